//! Converts simplified Chinese to traditional characters.
//!
//! Invariant: each character maps to one other; where several exist, it is the one that the tables
//! mean.

use std::collections::HashMap;

/// Pairs of a simplified and a traditional character.
const PAIRS: &str = "业業 两兩 个個 举舉 义義 书書 买買 乱亂 争爭 产產 亲親 从從 仓倉 价價 众眾 优優 会會 传傳 体體 余餘 储儲 写寫 军軍 农農 冲衝 况況 准準 减減
    凑湊 击擊 划劃 则則 刚剛 创創 别別 剥剝 办辦 务務 动動 劳勞 励勵 劝勸 勋勳 区區 医醫 华華 协協 单單 历歷 压壓 厘釐 参參 发發 变變 叠疊 号號 后後 吗嗎
    员員 响響 唤喚 喻喻 团團 围圍 国國 图圖 场場 坏壞 块塊 墙牆 增增 处處 备備 复複 头頭 夸誇 奖獎 宝寶 实實 审審 宽寬 对對 导導 将將 尔爾 层層 届屆
    岁歲 岗崗 币幣 师師 带帶 帮幫 归歸 当當 录錄 态態 总總 应應 开開 异異 弃棄 张張 强強 彻徹 径徑 惊驚 户戶 扁扁 执執 扫掃 抠摳 护護 报報 拟擬 择擇 挂掛
    挡擋 挤擠 挥揮 捞撈 损損 换換 据據 携攜 摄攝 摊攤 数數 断斷 无無 旧舊 时時 显顯 晓曉 暂暫 术術 机機 权權 条條 来來 构構 析析 标標 栏欄 样樣 档檔 检檢 梦夢
    楼樓 欢歡 欧歐 残殘 毁毀 汇彙 汉漢 没沒 测測 浏瀏 浓濃 涨漲 湿濕 满滿 滤濾 滚滾 渊淵 游遊 烦煩 点點 炼煉 热熱 爱愛 状狀 独獨 现現 环環 电電 画畫 疗療 盘盤
    盖蓋 着著 矫矯 码碼 确確 离離 种種 积積 称稱 税稅 稳穩 窃竊 竞競 笔筆 签簽 筛篩 简簡 箩籮 篮籃 类類 紧緊 纠糾 红紅 约約 级級 纪紀 纬緯 纯純 纲綱 纳納 纵縱
    线線 练練 组組 细細 织織 终終 绍紹 经經 结結 给給 统統 继繼 绩績 续續 维維 综綜 绿綠 编編 缓緩 缩縮 缺缺 网網 罗羅 罚罰 聊聊 职職 联聯 胁脅 胜勝 脏髒 脑腦
    脚腳 脱脫 节節 药藥 荐薦 获獲 营營 虑慮 虽雖 补補 表表 装裝 裤褲 见見 观觀 规規 视視 览覽 觉覺 触觸 誊謄 计計 订訂 认認 讨討 让讓 议議 讯訊 记記 讲講 许許 论論
    设設 访訪 证證 评評 识識 诉訴 词詞 译譯 试試 诗詩 话話 询詢 该該 语語 误誤 说說 请請 读讀 课課 谁誰 调調 谅諒 谈談 谊誼 谢謝 谱譜 贝貝 负負 账帳 货貨 质質 购購
    贴貼 费費 贺賀 资資 赖賴 赛賽 赢贏 轨軌 转轉 轮輪 软軟 轻輕 载載 较較 输輸 辞辭 边邊 达達 迁遷 过過 迈邁 运運 还還 这這 进進 远遠 连連 迟遲 适適 选選 递遞 逻邏
    邮郵 邻鄰 释釋 里裡 鉴鑑 钉釘 钟鐘 钮鈕 钱錢 铁鐵 银銀 链鏈 销銷 错錯 键鍵 镜鏡 长長 门門 闭閉 问問 间間 闻聞 阅閱 队隊 阳陽 阶階 际際 陆陸 险險 随隨 隐隱 难難
    韩韓 页頁 顶頂 项項 顺順 须須 预預 领領 频頻 题題 颜顏 额額 风風 飞飛 饭飯 饮飲 馆館 驱驅 驾駕 验驗 骤驟 鱼魚 鸟鳥 麦麥 黄黃 齐齊 龄齡 义義 几幾 台台 启啟 咨諮";

/// A map from simplified to traditional characters.
pub(super) struct TraditionalCharacters(HashMap<char, char>);

impl TraditionalCharacters {
    /// Builds the map.
    pub(super) fn new() -> Self {
        let pair = |pair: &str| {
            let mut signs = pair.chars();
            Some((signs.next()?, signs.next()?))
        };
        Self(PAIRS.split_whitespace().filter_map(pair).collect())
    }

    /// Converts a text; `None` if it stays the same.
    pub(super) fn to_traditional(&self, text: &str) -> Option<String> {
        let full: String = text.chars().map(|char| self.0.get(&char).copied().unwrap_or(char)).collect();
        (full != text).then_some(full)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_form_has_a_traditional_one_where_signs_differ() {
        let signs = TraditionalCharacters::new();
        assert_eq!(signs.to_traditional("转换成表格").as_deref(), Some("轉換成表格"));
        assert_eq!(signs.to_traditional("核对"), Some("核對".to_owned()));
        assert_eq!(signs.to_traditional("提取"), None);
    }
}

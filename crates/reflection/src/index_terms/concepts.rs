//! Concepts of tools, with their words in English, Japanese and Chinese.

/// Stop words.
pub(super) const STOP_WORDS: &str = "a an the this that these those it its of to in on at for from with by and or but not no so as is are was were be been
    do does did can could will would should may might must have has had i you he she we they me my your our their his her us them
    please there here then than just also into out up which what when where who whom how why if all any each every some such very between
    の を に は が で と も や か ね よ な て た だ ば わ さ し す る れ ら り い う え ん つ く け へ たり ながら から まで より
    だけ ほど など くらい ぐらい ので のに けど けれど って では には とは でも への との での にも とか つつ ごと ずつ べき はず わけ まま
    です でし でした ます まし ました ませ ません する した して しな され される せる させ れる られ られる いる いた いて いく おく おき ある
    あり あっ あって ない なく なら なる なり なっ なった なって こと もの ため よう ように とき ところ うち それ これ あれ どれ その この あの
    どの そこ ここ どこ そう こう どう また まず ぜひ もう もっと それぞれ ください くださ 下さい くれ くれる もらう もらえ もらって ほしい
    欲しい てく さい ださい てほ しい たい たく しまう みる くる きて いただ いただき いただけ お願い という ついて お ご
    的 了 和 与 與 在 是 把 将 將 被 从 從 到 对 對 为 為 以 及 或 就 也 都 很 这 這 那 个 個 些 请 請 一个 一個 一下 我 你 他 它 们 們 吗 吧 呢
    成 成为 帮 幫 帮我 幫我 帮忙 里 裡 裏 中 上 下 给 給 给我 替 让 讓 用 由 向 往 并 並 再 还 還 又 得 地 着 著 过 過 要 会 會 能 可以 需要
    这些 這些 那些 这个 這個 那个 那個 所有 每 每个 每個 一 其 之 而 但 且 等 于 於 我们 我們 你们 他们 麻烦 麻煩 什么 什麼 怎么 怎麼 中的 里的";

/// Concepts and their forms.
pub(super) const CONCEPTS: &[(&str, &str)] = &[
    (
        "convert",
        "convert conversion transform transformation turn translate-to change 変換 換算 コンバート 転換 置き換え 转换 轉換 换算 換算 转成 轉成 转为 轉為 转化 轉化 แปลง",
    ),
    ("parse", "parse parsing parser tokenize tokenise lex 解析 パース 構文解析 読み解 分析器"),
    (
        "format",
        "format formatting formatter reformat prettify prettyprint pretty beautify 整形 フォーマット 書式 格式化 排版 格式 形式",
    ),
    ("extract", "extract extraction scrape pick pull 抽出 抜き出 取り出 切り出 提取 抽取 摘出 截取 取出"),
    (
        "normalize",
        "normalize normalise normalization canonicalize standardize standardise unify clean cleanse sanitize 正規化 標準化 統一 名寄せ 規格化 规范化 規範化 标准化 標準化 归一化 清洗 统一",
    ),
    (
        "check",
        "check validate validation verify verification lint ensure audit vet inspect 検証 確認 検査 点検 チェック バリデーション 照合 妥当性 校验 校驗 验证 驗證 检查 檢查 核对 核對 检验 檢驗 ตรวจสอบ",
    ),
    ("compare", "compare comparison diff difference match 比較 差分 突き合わせ 比较 比對 比对 差异 差異 对比"),
    (
        "sum",
        "sum total add tally compute calculate calculation aggregate aggregation summarize summarise 合計 集計 総計 計算 足し 合算 求和 合计 总计 總計 汇总 彙總 计算 計算 加总 累加 累計 รวมยอด",
    ),
    ("average", "average mean 平均 均值 ค่าเฉลี่ย"),
    ("median", "median percentile quantile quartile 中央値 百分位 分位数 中位数 中位數 パーセンタイル"),
    (
        "count",
        "count counter frequency occurrence 数え カウント 件数 個数 頻度 计数 計數 统计 統計 频次 次数 個數 数量 數量",
    ),
    ("statistics", "statistics stats statistic variance deviation stddev 統計量 標準偏差 分散 标准差 標準差 方差 สถิติ"),
    ("maximum", "maximum max highest largest 最大 最高"),
    ("minimum", "minimum min lowest smallest 最小 最低"),
    ("group", "group bucket bin cluster partition グループ 分類 仕分け 分组 分組 分类 分類別 归类"),
    ("rank", "rank ranking leaderboard top 順位 ランキング 排名 排行"),
    ("sort", "sort order reorder arrange 並べ替え 並び替え ソート 整列 排序"),
    (
        "filter",
        "filter select query search find lookup 絞り込 検索 フィルタ 探 筛选 篩選 过滤 過濾 搜索 查找 查询 查詢",
    ),
    ("split", "split separate chunk divide 分割 分け 拆分 切分 分隔"),
    ("merge", "merge join combine concatenate concat union 結合 統合 連結 マージ 合并 合併 拼接 连接"),
    ("replace", "replace substitute swap 置換 替换 替換"),
    ("remove", "remove delete drop strip trim 削除 除去 取り除 删除 刪除 去除 去掉 剔除"),
    (
        "duplicate",
        "duplicate duplicates dedupe deduplicate unique distinct uniq 重複 一意 ユニーク 去重 重复 重複項 唯一",
    ),
    ("reverse", "reverse invert flip 逆順 反転 反转 反轉 倒序"),
    (
        "encode",
        "encode encoding escape serialize serialise 符号化 エンコード シリアライズ エスケープ 编码 編碼 序列化 转义",
    ),
    ("decode", "decode decoding unescape deserialize deserialise 復号 デコード 解码 解碼 反序列化"),
    ("hash", "hash checksum digest md5 sha crc ハッシュ チェックサム 哈希 校验和 摘要"),
    ("translate", "translate translation localize 翻訳 翻译 翻譯 译"),
    (
        "call",
        "api request endpoint webhook http rest fetch call invoke curl エンドポイント リクエスト 呼び出 叩 接口 請求 请求 调用 調用 เรียกใช้",
    ),
    ("send", "send post push notify notification publish 送信 通知 投稿 发送 發送 推送"),
    ("download", "download retrieve get load 取得 ダウンロード 获取 獲取 下载 下載 拉取"),
    ("generate", "generate create make build produce 生成 作成 创建 創建"),
    ("render", "render draw print display show 描画 表示 渲染 显示 顯示"),
    ("round", "round rounding truncate ceil floor 丸め 四捨五入 切り捨て 四舍五入 取整"),
    ("repeat", "repeat repetition batch bulk loop again 繰り返 反復 一括 毎回 重复执行 反复 反覆 批量"),
    ("csv", "csv tsv"),
    ("json", "json jsonl ndjson"),
    ("table", "table spreadsheet excel xlsx sheet 表 一覧 スプレッドシート エクセル 表格 电子表格"),
    ("file", "file document ファイル 文書 文件 文档 檔案 ไฟล์"),
    ("record", "record row entry item レコード 行 項目 明細 记录 記錄 条目 條目 明细"),
    ("field", "field column key property attribute 列 フィールド 項目名 欄 字段 欄位 栏"),
    ("text", "text string sentence 文字列 テキスト 文章 文本 字符串 字串 ข้อความ"),
    ("word", "word words token vocabulary 単語 語 单词 單詞 词语 词"),
    ("character", "character letter char 文字 字符 字元"),
    ("line", "line lines newline 改行 换行 換行"),
    ("number", "number numeric digit integer decimal 数値 数字 番号 整数 小数 數字 数值 數值 编号"),
    ("date", "date day calendar weekday 日付 年月日 曜日 暦 日期 星期"),
    (
        "time",
        "time timestamp hour minute duration timezone clock 時刻 時間 日時 タイムスタンプ 时间 時刻表 时间戳 時間戳 时区 時區",
    ),
    ("age", "age birthday birthdate 年齢 誕生日 生年月日 年龄 年齡 生日"),
    ("price", "price cost fee rate 価格 料金 単価 費用 价格 價格 费用 单价"),
    ("tax", "tax vat gst 税 消費税 增值税 税额"),
    ("discount", "discount coupon rebate 割引 値引 折扣 优惠"),
    ("sales", "sales revenue turnover takings 売上 売り上げ 销售 銷售 营业额 销量"),
    ("stock", "stock inventory 在庫 棚卸 库存 庫存"),
    ("order", "orders purchase 注文 受注 発注 订单 訂單"),
    ("invoice", "invoice bill receipt 請求書 領収書 伝票 发票 發票 账单 帳單 收据"),
    ("currency", "currency money dollar euro yen exchange 通貨 為替 円 ドル 货币 貨幣 汇率 匯率"),
    ("unit", "unit metric imperial 単位 单位 單位"),
    ("temperature", "temperature celsius fahrenheit 温度 気温 摂氏 華氏 气温 摄氏 华氏"),
    ("distance", "distance length kilometer mile 距離 長さ 距离 长度 長度"),
    ("weight", "weight mass kilogram pound 重さ 重量 体重"),
    ("percent", "percent percentage ratio share proportion rate 割合 比率 百分率 パーセント 百分比 比例 占比"),
    ("email", "email mail e-mail メール 邮件 郵件 邮箱 อีเมล"),
    ("phone", "phone telephone mobile 電話 电话 電話號碼 手机 手機"),
    ("address", "address postcode zip 住所 郵便番号 地址 邮编"),
    ("name", "name surname 氏名 名前 姓名 名字 名称"),
    ("user", "user customer member account client ユーザー ユーザ 顧客 会員 用户 用戶 客户 客戶 会员"),
    ("password", "password passphrase secret パスワード 密码 密碼"),
    ("url", "url uri link href リンク 链接 鏈接 网址"),
    ("log", "log logs logfile syslog ログ 日志 日誌"),
    ("error", "error exception failure fault エラー 例外 誤り 错误 錯誤 异常 異常"),
    ("list", "list array sequence リスト 配列 列表 数组 數組 清单"),
    ("object", "object map dictionary dict オブジェクト 辞書 对象 物件 字典"),
    ("tree", "tree nested hierarchy nest 木構造 入れ子 階層 树 嵌套 层级"),
    ("markdown", "markdown md マークダウン"),
    ("html", "html xml markup"),
    ("image", "image picture photo 画像 写真 图片 圖片 照片"),
    ("color", "color colour rgb hex 色 カラー 颜色 顏色"),
    ("coordinate", "coordinate latitude longitude location 座標 緯度 経度 坐标 座標系 经纬度"),
    ("uppercase", "uppercase capitalize capital 大文字 大写 大寫"),
    ("lowercase", "lowercase 小文字 小写 小寫"),
    ("report", "report summary overview レポート 報告 サマリー サマリ 报告 報告書 报表 報表 摘要文"),
    ("question", "survey questionnaire answer response アンケート 回答 问卷 問卷"),
    ("score", "score grade mark point 得点 点数 成績 分数 分數 成绩"),
    ("schema", "schema rule constraint スキーマ 規則 ルール 规则 規範 约束"),
];

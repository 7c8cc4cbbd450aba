//! What stands around a word and makes a thing of it, or leaves it work.

/// How Japanese verbs end where a noun may follow.
pub(super) const VERB_ENDS: &[&str] = &[
    "していた",
    "している",
    "してきた",
    "された",
    "される",
    "させる",
    "できる",
    "する",
    "した",
    "ていた",
    "ている",
    "った",
    "いた",
    "んだ",
    "す",
    "る",
    "た",
    "く",
    "う",
];

/// What follows a verb and leaves it what it is: 変換する必要がある, 集計した結果.
pub(super) const LINKS: &[&str] = &[
    "必要",
    "際",
    "前",
    "後",
    "時",
    "上",
    "方",
    "結果",
    "値",
    "場合",
    "数",
    "表",
    "一覧",
    "形",
    "予定",
    "件",
    "スクリプト",
    "プログラム",
    "ツール",
    "コード",
    "関数",
    "度",
    "都度",
    "毎",
];

/// Persons and firms whose trade a work may be: 変換を請け負う会社.
pub(super) const TRADES: &[&str] = &[
    "会社",
    "業者",
    "企業",
    "人",
    "者",
    "職人",
    "先生",
    "専門家",
    "担当",
    "メーカー",
    "事務所",
    "代理店",
    "工房",
    "スタジオ",
    "店",
    "部署",
    "チーム",
];

/// Figures whose names are nouns as often as verbs.
pub(super) const FIGURES: &[&str] = &[
    "平均",
    "中位",
    "中央値",
    "统计",
    "統計",
    "合计",
    "合計",
    "总",
    "總",
    "総",
    "比例",
    "比率",
    "割合",
    "占比",
    "排名",
    "順位",
    "均",
    "一共",
    "上位",
];

/// What makes work of the word before it: 変換処理.
pub(super) const PROCESS: &[&str] =
    &["処理", "作業", "実施", "実行", "依頼", "希望", "対応", "願", "頼", "一覧", "表を作", "表に", "表を出"];

/// What makes somebody or something of the word before it: 统计员, 转换器.
pub(super) const AGENTS: &str = "科局系学學课課员員部处處室站器组組物师師者仪費费";

/// What makes a thing of the Chinese word before it: 格式化工具.
pub(super) const THINGS: &[&str] = &[
    "工具",
    "脚本",
    "规则",
    "程序",
    "函数",
    "功能",
    "按钮",
    "文档",
    "方案",
    "页面",
    "流程",
    "部门",
    "模块",
    "提醒",
    "会议",
    "通知",
    "团队",
    "公司",
    "说明会",
    "大会",
    "软件",
    "玩意",
    "机器",
    "装置",
    "平台",
    "手册",
    "制度",
    "标准的",
];

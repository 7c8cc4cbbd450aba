//! Context words that decide whether a word names work or a thing.

/// Endings of Japanese verbs that may modify a noun.
pub(super) const VERB_ENDINGS: &[&str] = &[
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

/// Nouns after which a modifying verb still names work: 変換する必要がある, 集計した結果.
pub(super) const LINKING_WORDS: &[&str] = &[
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

/// Persons and companies whose trade the work may be: 変換を請け負う会社.
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

/// Figures whose names are as often nouns as verbs.
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

/// Nouns that make the preceding word work: 変換処理.
pub(super) const PROCESS_NOUNS: &[&str] =
    &["処理", "作業", "実施", "実行", "依頼", "希望", "対応", "願", "頼", "一覧", "表を作", "表に", "表を出"];

/// Characters that make the preceding word an agent or a device: 统计员, 转换器.
pub(super) const AGENT_SUFFIXES: &str = "科局系学學课課员員部处處室站器组組物师師者仪費费";

/// Nouns that make the preceding Chinese word a thing: 格式化工具.
pub(super) const ARTIFACT_NOUNS: &[&str] = &[
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

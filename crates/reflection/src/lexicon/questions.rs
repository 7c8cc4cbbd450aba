//! Questions that request nothing, about taste, reasons, facts or wording; and requests that look
//! like such questions.

use super::{LexiconRow, Sense};

pub(super) const ENGLISH: &[LexiconRow] =
    &[(Sense::Inquiry, ENGLISH_FORMS), (Sense::Ignored, ENGLISH_REQUESTS), (Sense::OtherWork, ENGLISH_OTHER)];

pub(super) const JAPANESE: &[LexiconRow] = &[
    (Sense::Inquiry, JAPANESE_FORMS),
    (Sense::Ignored, JAPANESE_REQUESTS),
    (Sense::OtherWork, JAPANESE_OTHER),
    (Sense::PostNegation, JAPANESE_NOT),
    (Sense::PostHypothetical, JAPANESE_IF),
];

pub(super) const CHINESE: &[LexiconRow] = &[
    (Sense::Inquiry, CHINESE_FORMS),
    (Sense::Ignored, CHINESE_NOTHING),
    (Sense::OtherWork, CHINESE_OTHER),
    (Sense::Negation, CHINESE_NOT),
];

const ENGLISH_FORMS: &str = "
    which of these, which of those, which of the two, which one, which would you, which do you, which feels,
    which sounds, which looks, which reads, which is better, which is nicer, what did, what does, what do you,
    what would you, what should, what's the best way, what is the best way, what's a good, what makes, how do i,
    how do we, how do you, how does, how did, how should, how would, how come, how good, how reliable, how hard,
    how often should, why, do you think, do you reckon, do you like, do you prefer, would you rather,
    would you say, would you recommend, would it be, is it worth, is it worthwhile, is it wise, is it rude,
    is it ok to, is it okay to, is it normal, is it true, is it better, is there a polite, are we allowed,
    am i allowed, am i right, who should, who is, who was, where should, when should, should i, should we,
    should they, any idea, any ideas, any thoughts, your take, your thoughts, your view, your opinion,
    your advice, your gut, what's your, or a person, or is that, or is it, any good, does it make sense,
    just musing, just curious, just wondering, idle question, out of curiosity";

const ENGLISH_REQUESTS: &str = "
    would you mind, do you mind, what does it sum to, what does it add up to, which one is missing,
    which ones are missing, who is missing";

const ENGLISH_OTHER: &str = "
    in a single sentence, in one sentence, in a sentence, in two sentences, in a word, in two words,
    in a few words, one-liner, phrase a, phrase an, phrase the, phrase it, word it, wording for, word a, soothe,
    comfort, calm down, reassure, cheer, opening for the letter, letter to, note to, card for, message for,
    message to, thank her, thank him, thank them, suggest a, suggest an, suggest some, recommend a, recommend an,
    pick one, pick the, pick a, choose a, choose between, choose one, sticky note, talking points, icebreaker,
    sympathetic, say in a, say to, tell me what you, help me decide, help me choose, help me word,
    help me phrase, help me explain, talk me through, walk me through, one paragraph on, two paragraphs on,
    paragraph about, paragraph on, fun fact, metaphor, analogy, poetic";

const JAPANESE_FORMS: &str = "
    でしょうか, だろうか, のですか, んですか, のでしょう, んでしょう, どうして, どっち, どちらが, どちらを,
    どちらの, どれがいい, どれが好, どれが一番, なんと返, 何と返, なんと言, 何と言, なんて言, なんて返, なんと答,
    何と答, どう返, どう答え, どう言え, どう伝え, どう思, どう説明, どう切り出, どう断, どう書け, どうすれば,
    どうしたら, 立ちませんか, 方法はありませんか, 言い方はありませんか, 案はありませんか, なりませんか,
    よくないですか, いいですか, よいですか, 良いですか, かしら, って何, とは何, ってなに, 何者, なぜ, 何故,
    いつ頃, いつごろ, 勘でいい, 聞かれて困, 聞かれたのですが, べきですか, ましょうか, 気がしますか, と思いますか,
    好きですか";

const JAPANESE_REQUESTS: &str = "
    もらえないでしょうか, もらえますでしょうか, いただけないでしょうか, いただけますでしょうか,
    頂けないでしょうか, 頂けますでしょうか, くれないでしょうか, くださらないでしょうか, できないでしょうか,
    できますでしょうか, 可能でしょうか, 願えないでしょうか, 願えますでしょうか, できるでしょうか,
    ていないでしょうか, 抜けがありませんか, 漏れがありませんか, 重複がありませんか, 間違いがありませんか,
    抜けはありませんか, 漏れはありませんか, 重複はありませんか, 間違いはありませんか, 誤りはありませんか,
    てもらっていいですか, てもらってもいいですか, お願いしていいですか, お願いしてもいいですか, 頼んでいいですか,
    頼んでもいいですか, いくらでしょうか, いくらになるでしょうか, 何件あるでしょうか, いくつあるでしょうか,
    何人でしょうか, 何回でしょうか, 何件でしょうか, 誰が最も, 誰が一番, 誰が何";

const JAPANESE_OTHER: &str = "
    キャプション, 書きだし, 書き出し文, 想定問答, 小話, お詫び状, 詫び状, 礼状, お礼状, 一筆, 添え状, 前書き,
    序文, あとがき, 返答を, 断りの, 誘いの, 言い回し, 声をかけ, 言葉をかけ, 慰める, なだめ, なだめる, 励ます,
    説得, 切り出し, 人目を引, 明るい写真, 一言添え, 一文で, 三行で, 二行で, 案をください, 案を出し, 案を三,
    案を二, 候補を挙げ, 候補を出し, 名付け, 呼び名, 愛称, 書けないかな, 書けるかな, スローガン, ポスターの,
    たとえて, 例えて, かみ砕, 噛み砕, 分かりやすく教え, わかりやすく教え, どういうもの, 教えてあげ";

const JAPANESE_NOT: &str = "
    わけではな, わけじゃな, わけではありま, わけじゃありま, のではな, のではありま, んじゃな, 用はな, 用はありま,
    頼んでいな, 頼んでいませ, 頼んでな, 頼んだ覚え, 言っていな, 言っていませ, 言ってな, 思っていな, 思っていませ,
    お断り, いりません, なくて済, ずに済, せずとも, しなくとも, ほしいわけ";

const JAPANESE_IF: &str = "
    ようとして, べきだ, べきという, べきと, という声, との声, という意見, との意見, という噂, という話,
    という要望, らしい, だそう, と言われ, といわれ, と聞き, と聞いた, とのこと";

const CHINESE_FORMS: &str = "
    怎么, 怎麼, 怎样, 怎樣, 为什么, 为啥, 为何, 合适吗, 合适呢, 要不要, 该不该, 好不好, 行不行, 能不能用, 值不值,
    值得吗, 哪个更, 哪个来, 哪个好, 哪种更, 哪种好, 哪套, 哪款, 哪家好, 哪家更, 哪边, 哪样, 谁更, 谁先, 由谁,
    是谁, 谁说, 你觉得, 您觉得, 你看呢, 你认为, 您认为, 你说呢, 管用吗, 有用吗, 靠谱吗, 好吗, 对吗, 是吗, 会吗,
    难吗, 贵吗, 安全吗, 可信吗, 算不算, 我应该, 我该, 我们该, 我们应该, 应该注意, 注意哪些, 什么好, 啥好, 点啥,
    写点啥, 是个啥, 什么是, 是什么, 什么叫, 什么意思, 啥意思, 我问的是, 想问, 请问为, 如何看, 如何评价, 有何,
    有什么区别, 有啥区别, 有什么不同, 有什么讲究, 有什么好, 去哪, 在哪";

const CHINESE_NOTHING: &str = "
    检查点, 提取物, 健康检查, 入职检查, 检查卫生, 检查完身体, 想求和, 求和解, 核对会, 怎么样都, 不管怎么,
    无论怎么, 不管怎样, 无论怎样, 抽取式, 解析度, 汇总人, 统计口径会, 校验员, 验证性, 重复的梦, 转换期, 转换赛道,
    是什么时候录, 帮我看看是什么格式";

const CHINESE_OTHER: &str = "
    便条, 便签, 字条, 纸条, 写张, 写点, 写三, 写两, 写四, 写几, 讲给, 说给, 用一句, 用两句, 用三句, 一句话,
    两句话, 三句话, 几句话, 简单说说, 简单讲讲, 压他们, 跟他说一声, 跟她说一声, 说一声, 告诉她, 提醒他, 提醒她,
    提醒大家, 通知他, 通知她, 通知大家, 放松, 宽心, 打气, 加油, 礼节, 递话, 劝劝, 开导, 寒暄, 搭话, 自我介绍,
    祝寿, 贺卡, 挽联, 悼词, 横幅, 宣传栏, 标语, 宣传语, 起名, 高中生能, 小学生能, 外行能, 听懂, 通俗, 打个比方,
    写条, 回一句, 回个, 回句, 怎么回, 代我, 代为转达";

const CHINESE_NOT: &str = "
    没说要, 没让你, 没叫你, 没要你, 没要求, 没说过要, 不是要, 不是让, 不是叫, 不是想, 并不是要, 并非要, 不想,
    不是说要, 没想, 没想要, 没想让, 轮不到, 谁说要, 不该, 不归我, 不劳你";

//! Colloquial expressions for work, without words such as convert, check, sum or call.

use super::{LexiconRow, Sense};
use crate::trigger::Trigger::{Aggregation, Api, Transformation, Validation};

pub(super) const ENGLISH: &[LexiconRow] = &[
    (Sense::Work(Transformation), ENGLISH_CHANGE),
    (Sense::WorkFrame(Transformation), ENGLISH_SHAPES),
    (Sense::Work(Validation), ENGLISH_CHECK),
    (Sense::Work(Aggregation), ENGLISH_SUM),
    (Sense::Work(Api), ENGLISH_CALL),
    (Sense::Repetition, ENGLISH_AGAIN),
];

pub(super) const JAPANESE: &[LexiconRow] = &[
    (Sense::Work(Transformation), JAPANESE_CHANGE),
    (Sense::WorkFrame(Transformation), JAPANESE_CHANGE_FRAMES),
    (Sense::Work(Validation), JAPANESE_CHECK),
    (Sense::Work(Aggregation), JAPANESE_SUM),
    (Sense::Work(Api), JAPANESE_CALL),
    (Sense::Remote, JAPANESE_REMOTE),
    (Sense::Repetition, JAPANESE_AGAIN),
];

pub(super) const CHINESE: &[LexiconRow] = &[
    (Sense::Work(Transformation), CHINESE_CHANGE),
    (Sense::WorkFrame(Transformation), CHINESE_SHAPES),
    (Sense::Work(Validation), CHINESE_CHECK),
    (Sense::Work(Aggregation), CHINESE_SUM),
    (Sense::Work(Api), CHINESE_CALL),
    (Sense::Repetition, CHINESE_AGAIN),
];

const ENGLISH_CHANGE: &str = "
    like them as, like it as, like these as, want these as, need these as, have it as, have them as, get it as,
    get them as, one row per, one line per, one per line, one column per, boil * down to rows, lay * out as,
    title-case, snake_case, mask the, pluck * from, pluck * out, comb * out of, tease * out of, carve * into,
    break * into columns, fold * into, rewrite * as a table";

const ENGLISH_SHAPES: &str = "
    one row each, a row each, a row for each, a line for each, a column for, columns for, with columns,
    with headers, with a header, as rows, as columns, as pairs, as lines, as tuples, as records, as objects,
    as seconds, as minutes, as hours, as decimals, as percentages, as fractions, as numbers, as integers,
    as dates, as degrees, as bullets, into seconds, into minutes, into hours, into decimals, into numbers,
    into dates, into pairs, into fields, into separate, in chronological order, in date order, in seconds,
    in minutes, in metres, in meters, in euros, in dollars, in kilograms, side by side, comma-separated,
    tab-separated, semicolon-separated, key-value, newest first, oldest first, surname first, last name first,
    day first, year first, four-digit years, two decimals, two decimal places, without the html,
    without the tags, without the markup, end up as, come out as, comes out as, ends up as, spit out,
    spit * out as, cough up, lift, pluck, peel, peel off, carve, comb, key, knock * into, wrestle * into,
    hammer * into, whip * into, lick * into, squeeze * into, squash * into, collapse, digest";

const ENGLISH_CHECK: &str = "
    cross check, check whether, go through * and flag, flag each, flag the ones, flag rows, point out any,
    point out every, see if any, see that all, tell me which * lack, tell me which * missing,
    tell me which * fail, tell me which * break, which rows are, which rows have, which records have,
    which records are, which entries are, which lines are, are all of the, do all of the, conform";

const ENGLISH_SUM: &str = "
    rack up, work out the total, work out the share, how many of each, how many per, how much per, how much each,
    how many each, how many times each, split by, month by month, week by week, year by year, top three, top 3,
    top 20, rank by";

const ENGLISH_CALL: &str = "
    query the * api, ping the * endpoint, hit the * endpoint, hit the * api, call the * api, poll the,
    ask the * api, ask the * service, ask the * server, look * up in the * service, look * up on the * api,
    from the * endpoint, to the * endpoint, to the * webhook, to our webhook, to the webhook, via the * api,
    via their api, through the * api, submit * to the * api, push * to the * api";

const ENGLISH_AGAIN: &str = "
    same two steps, same three steps, same four steps, same five steps, same three things, same two things, redo,
    redoing, redone, the same steps, the same three, the same four, for the fortieth time, for the tenth time,
    all over again, like clockwork, yet more of, keeps coming back, keep coming, by now the, every single time";

const JAPANESE_CHANGE: &str = "
    に作り替え, に組み替え, に組み直, に読み替え, に割り振, に振り分け, に仕分け, 抜いて一覧, 書き写して, 写し取,
    転記し, 転記する, 形式にし, 形式で出, 形式に直, 一覧にし, 一覧表にし, 一行に一, 一行ずつ, かなに直";

const JAPANESE_CHANGE_FRAMES: &str = "
    に寄せ, にそろえ, に揃え, へそろえ, へ揃え, に直し, に直す, へ直し, へ直す, に並べ直, に打ち直, に置きかえ,
    に開い, に開く, 切り分ける, 拾って, の形にし, の形に直, 表へ";

const JAPANESE_CHECK: &str = "
    突き合せ, 見比べ, 照らし合わせ, 照らし, 点検し, 点検する, あらい出, 確かめて, 確かめる, たしかめ,
    矛盾がないか, 不備がないか, 収まっているか, 守られているか, 守っているか, 食い違いがないか, 違反がないか,
    違反してい, チェックし, チェックを";

const JAPANESE_SUM: &str = "
    積み上げて, はじき出, 弾き出, 割り出, ならして, 何件ずつ, 何人ずつ, 何回ずつ, 何本ずつ, 何枚ずつ, それぞれ何,
    合わせていくら, 全部でいくら, 全部で何, 件数を出, 合計を出, 平均を出, 割合を出, 内訳を, 上位三, 上位五,
    上位十, の推移を";

const JAPANESE_CALL: &str = "
    を叩いて, を叩き, を叩く, をたたいて, から引っぱ, から引っ張, から取ってき, から取って来, から落とし,
    に問い合わせ, へ問い合わせ, に投げて, へ投げて, に送信し, へ送信し, へpost, にpost, をgetし, から取得し,
    から取得する, サービスから, サイトから取";

const JAPANESE_REMOTE: &str = "
    エンドポイ, リーダーボード, サーバー側, 配信元, 提供元";

const JAPANESE_AGAIN: &str = "
    変わるたび, 来るたび, するたび, 出るたび, 届くたび, あるたび, 同じ書式, 同じ三つ, 同じ二つ, 手順はいつも,
    やり方はいつも, いつもと同, いつも同じ, もう何件, 件目, 一から打, 毎回毎回, 朝ごと, 週ごとに同, 月ごとに同,
    そのつど, 繰りかえ";

const CHINESE_CHANGE: &str = "
    抄成, 录成, 敲进, 敲成, 搬进表格, 捋成, 捋成表, 理成, 归整成, 列个表, 做个表格, 弄成表, 弄成一张, 整成表,
    整成一张, 转一下, 转个, 换个写法, 统一写作, 换写成, 归成, 抽成, 分成两列, 分成三列, 一行一个, 一行一条,
    每行一个, 每行一条, 逐条转, 逐个转, 都转, 变小写, 变大写, 改写法, 调成统一, 转繁体, 转简体";

const CHINESE_SHAPES: &str = "
    变作, 换作, 改作, 写作, 记作, 归到, 套进, 塞进, 装进, 并进, 并成, 拆到, 散成, 归成, 汇到, 汇进, 录进, 录到,
    填成, 弄到, 倒进, 导进, 倒到, 搬进, 抄进, 一列放, 一栏放, 第一列, 第二列, 各占一行, 各占一列, 用逗号隔,
    用逗号分, 用制表符, 按时间排, 按日期排, 按先后, 从早到晚, 从新到旧, 从旧到新, 前后对调, 全用, 都用, 都写,
    统一用";

const CHINESE_CHECK: &str = "
    对一下, 对一遍, 对一对, 对对看, 对照一遍, 比对一下, 挨行, 挨条, 挨个看, 挨个查, 逐条看, 逐行看, 逐个看,
    逐份看, 逐条对, 逐行对, 逐个对, 一条条对, 一条条看, 一个个看, 看有没有, 查有没有, 超了的, 漏的标, 错的标,
    挑出不, 找出不, 找出没, 找出漏, 找出缺, 找出重, 查清, 把把关";

const CHINESE_SUM: &str = "
    算一下各, 算算各, 算出各, 算出每, 算一算每, 数数, 点一点, 拢个, 归拢, 分别有多少, 分别是多少, 分别占,
    各占多少, 一共有多少, 一共花, 排个名次, 前三名, 前五, 按 * 分开算, 按 * 算";

const CHINESE_CALL: &str = "
    打一下接口, 请求一下, 调一下 * 接口, 从 * 服务器拉, 从 * 平台拉, 从 * 平台取, 调 * api, 拉一下, 拉一份,
    拉下来, 抓一下, 推给 * 接口";

const CHINESE_AGAIN: &str = "
    一天三趟, 一天两趟, 一天两回, 一天三回, 一天好几, 每接一, 每来一, 每收一, 每出一, 每改一, 每换一, 还是跟上午,
    还是跟昨天, 还是和昨天, 还是跟上次, 还是照上, 又来麻烦, 又得麻烦, 同样的十, 同样的三, 同样的几, 做到第,
    弄到第, 改到第, 第九份, 第十份, 第六回, 第七回, 第八回, 重新敲, 重新抄, 再来一遍, 又改了一版, 又来一版,
    没完没了";

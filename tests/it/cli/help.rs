//! Help and usage errors in each language.

use crate::fixtures::cli::toolcell;

#[test]
fn help_comes_in_japanese_and_chinese() {
    let main = toolcell(&["--help", "--lang", "ja"]).out;
    for line in [
        "AI エージェントが書いたツールを、呼び出しごとに独立した WebAssembly サンドボックスで実行します",
        "使い方: toolcell [OPTIONS] <COMMAND>",
        "作成と実行:",
        "共通オプション:",
        "  run          保存されているツールを実行します",
        "  list         保存されているツールを一覧表示します [別名: ls]",
        "オプション:",
        "          [指定できる値: en, ja, zh]",
        "ポリシー:",
    ] {
        assert!(main.lines().any(|found| found == line), "{line}: {main}");
    }
    let run = toolcell(&["run", "--help", "--lang=zh"]).out;
    for line in ["运行已存储的工具", "参数：", "选项：", "上限：", "          [默认值：0]", "示例：", "可选值："]
    {
        assert!(run.lines().any(|found| found == line || found.trim_start() == line), "{line}: {run}");
    }
    assert!(run.contains("用法：toolcell run [OPTIONS] <TOOL> [PARAMS|KEY=VALUE]..."), "{run}");
    assert!(run.contains("\n  toolcell run average --explain\n"), "{run}");
    // Without a command, the help is an error.
    let none = toolcell(&["config"]);
    assert!(none.status == 2 && none.err.contains("\nCommands:\n"), "{}", none.err);
    let missing = toolcell(&["config", "--lang", "zh"]);
    assert!(missing.status == 2 && missing.err.contains("[子命令：show, check, schema"), "{}", missing.err);
}

#[test]
fn usage_errors_come_in_japanese_and_chinese() {
    let unknown = toolcell(&["list", "--al", "--lang", "ja"]);
    assert_eq!((unknown.status, &*unknown.out), (2, ""));
    let first =
        "エラー: 引数 `--al` は使用できません\n\n  ヒント: 似た引数があります: `--all`\n\n使い方: toolcell list ";
    let last = "\n\n詳しくは `--help` を参照してください。\n";
    assert!(unknown.err.starts_with(first) && unknown.err.ends_with(last), "{}", unknown.err);
    let value = toolcell(&["list", "--unused", "long", "--lang", "zh"]);
    assert_eq!(
        (value.status, &*value.err),
        (2, "错误：`--unused <AGE>` 的值 `long` 无效：应为 30d、12h 或 90s 这样的时长\n\n更多信息请尝试 `--help`。\n")
    );
}

#[test]
fn an_unknown_language_and_words_that_are_no_options_select_english() {
    let unknown = toolcell(&["list", "--lang", "fr"]);
    assert!(unknown.err.starts_with("error: invalid value 'fr' for '--lang <LANG>'"), "{}", unknown.err);
    let words = toolcell(&["exec", "--nonsense", "--", "--lang", "ja"]);
    assert!(words.err.starts_with("error: unexpected argument '--nonsense' found"), "{}", words.err);
}

#[test]
fn manual_pages_come_in_japanese_and_chinese() {
    let main = toolcell(&["man", "--lang", "zh"]).out;
    assert!(main.contains(".TH toolcell 1") && main.contains("运行已存储的工具"), "{main}");
    let folder = tempfile::tempdir().unwrap();
    let pages = |lang: &str| {
        let folder = folder.path().join(lang);
        assert_eq!(toolcell(&["man", folder.to_str().unwrap(), "--lang", lang]).status, 0);
        let names = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().file_name());
        names.collect::<std::collections::BTreeSet<_>>()
    };
    assert_eq!(pages("ja"), pages("en"));
    let page = std::fs::read_to_string(folder.path().join("ja/toolcell-run.1")).unwrap();
    assert!(page.contains("保存されているツールを実行します"), "{page}");
}

use super::*;
use serde_json::json;
use toolcell_tool::ToolName;

#[test]
fn a_name_is_said_in_words_of_the_task() {
    use Trigger::{Aggregation as Sum, Api, Repetition as Again, Transformation as Turn, Validation as Check};
    let tasks = [
        (Turn, "複数のCSVファイルをJSONに変換する", "csv_to_json"),
        (Turn, "複雑なデータ変換処理", "convert_data"),
        (Turn, "日付をISO形式に変換したい", "date_to_iso"),
        (Turn, "電話番号の書式を統一して整形する", "normalize_phone_number"),
        (Turn, "サーバーのログからエラーを抽出する", "extract_log_error"),
        (Check, "メールアドレスの形式を検証する", "validate_email"),
        (Check, "注文データの必須項目をチェックしてください", "check_order_required_field"),
        (Sum, "月別の売上を集計する", "monthly_sales_totals"),
        (Sum, "店舗ごとの平均価格を計算", "price_average_by_store"),
        (Sum, "アンケートの回答を統計にまとめる", "survey_answer_statistics"),
        (Api, "天気APIを呼び出して気温を取得する", "call_weather_api"),
        (Api, "Slackに通知を送信する", "notify_slack"),
        (Again, "毎日同じ作業を繰り返し実行する", "repeat_daily_task"),
        (Turn, "あれをそれにする", "convert_891218"),
        (Turn, "Convert multiple CSV files to JSON", "csv_to_json"),
        (Turn, "Turn the XML feed into a markdown table, please", "xml_to_markdown"),
        (Turn, "convert temperatures from Celsius to Fahrenheit", "celsius_to_fahrenheit"),
        (Turn, "Normalize phone numbers in the contact list", "normalize_phone_numbers"),
        (Turn, "I need to extract invoice numbers from these emails again and again", "extract_invoice_numbers"),
        (Check, "Validate email addresses", "validate_email_addresses"),
        (Check, "Check that each order has a valid total", "check_order_total"),
        (Check, "make sure required fields are present in user records", "validate_required_fields"),
        (Sum, "Summarise the errors in the server log by hour", "summarise_errors_by_hour"),
        (Sum, "Compute the average response time per endpoint", "average_response_by_endpoint"),
        (Sum, "Count words in customer reviews", "count_words"),
        (Api, "Fetch exchange rates from the ECB API every morning", "fetch_exchange_rates"),
        (Api, "POST each new order to our webhook", "post_order_webhook"),
        (Again, "Rename the photos in every folder one by one", "rename_photos"),
        (Turn, "do it", "convert_f97ff0"),
        (Turn, "把CSV文件转换成JSON", "csv_to_json"),
        (Turn, "将日志文件解析为表格", "log_to_table"),
        (Turn, "把日期统一成标准格式", "normalize_date"),
        (Check, "校验用户的身份证号码", "validate_user_identity"),
        (Check, "检查订单金额是否正确", "check_order_amount"),
        (Sum, "按地区统计销售额", "sales_totals_by_region"),
        (Sum, "计算每个部门的平均工资", "salary_average_by_department"),
        (Api, "调用天气接口查询气温", "call_weather_endpoint"),
        (Again, "对每个文件重复同样的处理", "repeat_file"),
        (Sum, "部門別の経費を合計する", "expense_totals_by_department"),
        (Turn, "全角文字を半角に変換する", "full_width_to_half_width"),
        (Turn, "can you parse the apache access logs?", "parse_apache_access_logs"),
        (Again, "每天重复执行备份任务", "backup_task"),
        (Turn, "เปลี่ยน XML เป็น CSV", "xml_to_csv"),
        (Turn, "แปลงไฟล์ CSV เป็น JSON", "csv_to_json"),
        (Sum, "สรุปยอดขายรายเดือน", "monthly_sales_summary"),
        (Check, "ตรวจสอบอีเมลของลูกค้า", "validate_email_customer"),
    ];
    for (trigger, task, expect) in tasks {
        let name = skeleton(task, trigger, &[]).name;
        assert_eq!(name, expect, "{task}");
        assert!(ToolName::parse(&name).is_ok(), "{name}");
    }
}

fn called(name: &str, arguments: Value) -> PastOperation {
    PastOperation { name: name.to_owned(), arguments, ..PastOperation::default() }
}

#[test]
fn a_repetition_is_named_after_what_was_repeated() {
    let check = |operation: &str, expect: &str| {
        let history = [called(operation, json!({"a": 1})), called(operation, json!({"a": 2}))];
        let name = propose("毎日同じことをする", Trigger::Repetition, &history).name;
        assert_eq!(name, expect);
        assert!(ToolName::parse(&name).is_ok(), "{name}");
    };
    check("readFile", "batch_read_file");
    check("mcp__fs__read_file", "batch_read_file");
    check("fs.convert-image", "batch_convert_image");
    check("7zip", "batch_7zip");
    check("ファイル変換", "batch_file_convert");
    check("ぬ", "repeat_b3adcf");
}

#[test]
fn any_text_makes_a_proposal_that_passes() {
    let long = format!("{} {}", "internationalization ".repeat(4000), "変換".repeat(300_000));
    let hostile = "it's `${x}` \\ */ \u{2028}\u{0}\u{202e}\r\n'); evil('";
    let texts = ["", " ", "create a tool", "create_tool", "dt_abcdef012345", "🙂🙂", "'", "___", "ไม่มี", hostile, &long];
    for text in texts {
        for trigger in Trigger::ALL {
            let proposal = propose(text, trigger, &[]);
            assert!(ToolName::parse(&proposal.name).is_ok(), "{}", proposal.name);
            assert!(!proposal.description.contains(char::is_control) && proposal.description.len() < 2000);
            assert!(proposal.generated_from.is_none_or(|task| task.chars().count() <= MAX_TASK_CHARS + 1));
            assert_short_form(&proposal.parameters);
            assert_eq!(propose(text, trigger, &[]), propose(text, trigger, &[]));
        }
    }
}

#[test]
fn a_hostile_task_stays_a_text_in_the_call() {
    let call = propose("it's `${x}` \\ */\u{2028}\u{0}\n'); evil('", Trigger::Api, &[]).to_call();
    assert!(call.contains(r"  description: 'it\'s `${x}` \\ *\/ \'); evil(\'',"), "{call}");
    assert!(call.starts_with("create_tool({\n  name: '") && call.ends_with("\n})"));
}

/// Checks the short form of parameters of `create_tool`.
fn assert_short_form(parameters: &Value) {
    for (name, definition) in parameters.as_object().unwrap() {
        let keys = ["type", "description", "default", "enum", "minimum", "maximum", "required"];
        assert!(definition.as_object().unwrap().keys().all(|key| keys.contains(&key.as_str())), "{name}");
        let kind = definition["type"].as_str().unwrap();
        assert!(["string", "number", "boolean", "object", "array"].contains(&kind), "{name}");
        assert!(definition["description"].as_str().is_some_and(|text| !text.is_empty()), "{name}");
        if let (Some(default), Some(allowed)) = (definition.get("default"), definition.get("enum")) {
            assert!(allowed.as_array().unwrap().contains(default), "{name}");
        }
    }
}

#[test]
fn what_was_repeated_becomes_parameters() {
    let history = [
        called("resize", json!({"path": "a.png", "width": 10, "options": {"fast": true}, "__proto__": null})),
        called("resize", json!({"path": "b.png", "width": 20, "options": {"fast": true}, "__proto__": null})),
        called("resize", json!({"path": "c.png", "width": 30, "crop": true})),
        called("read", json!({"path": "x"})),
    ];
    let proposal = propose("Resize the images one by one", Trigger::Repetition, &history);
    assert_short_form(&proposal.parameters);
    let declared = proposal.parameters.as_object().unwrap().iter();
    let kinds: Vec<_> = declared.map(|(name, it)| (name.as_str(), it["type"].as_str().unwrap())).collect();
    assert_eq!(kinds, [("path", "string"), ("width", "number"), ("options", "object"), ("crop", "boolean")]);
    let required = |name: &str| proposal.parameters[name].get("required").is_some();
    assert!(required("path") && !required("crop"));
    assert_eq!(proposal.parameters["path"]["description"], "`path` of `resize`");
    assert!(!proposal.to_call().contains(".png"));
}

#[test]
fn a_skeleton_has_what_the_task_says_and_no_more() {
    let proposal = propose("Convert the legacy XML of each order to YAML", Trigger::Transformation, &[]);
    assert_eq!((proposal.kind, proposal.name.as_str()), (ProposalKind::Skeleton, "xml_to_yaml"));
    assert!(proposal.code.contains("throw new Error(\"not written yet\")") && proposal.examples.is_empty());
    let names: Vec<&String> = proposal.parameters.as_object().unwrap().keys().collect();
    assert_eq!(names, ["xml", "records", "yaml"]);
    // A token of a model has three characters or more of such a text: 200 tokens at most.
    assert!(proposal.to_call().chars().count() <= 600, "{}", proposal.to_call());
    let fields = serde_json::to_value(&proposal).unwrap();
    assert_eq!(fields.as_object().unwrap().keys().collect::<Vec<_>>(), ["name", "description", "code", "parameters"]);
}

#[test]
fn a_description_is_in_the_language_of_the_task() {
    let said = |task: &str| propose(task, Trigger::Transformation, &[]).description;
    assert_eq!(said("Port the legacy classes\nto hooks."), "Port the legacy classes to hooks.");
    assert_eq!(said("複雑なデータ変換処理"), "複雑なデータ変換処理");
    assert_eq!(said("\u{202e}"), "A tool for the task");
    let history = [called("resize", json!({"a": 1})), called("resize", json!({"a": 2}))];
    let said = |task: &str| propose(task, Trigger::Repetition, &history).description;
    assert_eq!(said("画像を一つずつ"), "繰り返された操作 `resize` の処理を行います");
}

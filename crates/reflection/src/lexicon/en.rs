//! English: work, data, figures, services.

use super::{Line, Sense};
use crate::trigger::Trigger::{Aggregation, Api, Transformation, Validation};

pub(super) const LINES: &[Line] = &[
    (Sense::Act(Transformation), CHANGE),
    (Sense::Act(Transformation), EXTRACT),
    (Sense::Frame(Transformation), CHANGE_FRAMES),
    (Sense::Act(Api), CALL),
    (Sense::Act(Validation), CHECK),
    (Sense::Frame(Validation), CHECK_FRAMES),
    (Sense::Act(Aggregation), SUM),
    (Sense::Frame(Aggregation), SUM_FRAMES),
    (Sense::Measure, MEASURES),
    (Sense::Group, GROUPS),
    (Sense::Datum, FORMATS),
    (Sense::Datum, RECORDS),
    (Sense::Datum, FIELDS),
    (Sense::Many, MANY),
    (Sense::Seek, SEEK),
    (Sense::Fault, FAULTS),
    (Sense::Rule, RULES),
    (Sense::Reach, REACH),
    (Sense::Remote, REMOTE),
    (Sense::Nothing, NOTHING),
];

const CHANGE: &str = "
    convert, conversion, reformat, reformatting, transform, transformation, normalize, normalise, normalization,
    normalisation, parse, parsing, parser, serialize, serialise, deserialize, deserialise, encode, decode,
    transcode, re-encode, reencode, unescape, url-encode, base64, munge, massage, wrangle, flatten, unflatten,
    unnest, denormalize, denormalise, pivot, unpivot, transpose, reshape, restructure, remap, transliterate,
    romanize, romanise, canonicalize, canonicalise, standardize, standardise, anonymize, anonymise,
    pseudonymize, pseudonymise, redact, mask out, dedupe, deduplicate, de-duplicate, tokenize, tokenise,
    vectorize, minify, prettify, pretty-print, prettyprint, beautify, left-pad, right-pad, zero-pad, titlecase,
    uppercase, lowercase, snake-case, camel-case, slugify, reproject, resample, downsample, interpolate,
    digitize, digitise, tabulate, jsonify, csvify, format as, format into, format to, format all, format each,
    format every, format these, format those, format the, find and replace, round to, rounded to, change * into,
    convert into, round * to, render * as, render * into, rewrite * as json, rewrite * as csv, recast,
    transcribe * into, unify the, harmonize, harmonise, homogenize, homogenise, geojson from, csv from,
    json from, to csv, to json, to tsv, to yaml, to xml, to html, to markdown, to parquet, to toml, to iso,
    into csv, into json, into yaml, into xml, into html, into markdown, into tsv, into a table, into a csv,
    into a json, into one table, into a list of, into columns, into rows, into records, into sql, into iso,
    into utc, as csv, as json, as tsv, as yaml, as xml, as html, as markdown, as ndjson, as json lines,
    as a csv, as a table, as a markdown table, as a flat table, as an html table, as geojson";

const EXTRACT: &str = "
    extract, extraction, scrape, pull * out of, pick * out of, pick out, lift * from, lift * out of, lift out,
    tease out, tease * apart, split * into, break * into, break * down into, separate * into, chop * into,
    slice * into, cut * into fields, boil * down to, distil * into, distill * into, parse out, strip out,
    strip * from, strip * off, strip the, trim the, carve * out of, harvest * from, grab * from each,
    collect * from each, collect * from all, gather * from each, gather * from all, unpack * into";

const CHANGE_FRAMES: &str = "
    turn * into, make * into, turn * to, change * to, bring * into, put * into, put * in, get * into,
    move * into, map * to, map * onto, map * into, rewrite * as, rewrite * in, rewrite * into, translate * into,
    translate * to, switch * to, migrate * to, port * to, cast * to, cast * as, coerce * to, coerce * into,
    swap * for, replace * with, replace * by, lay * out in, lay out, arrange * into, arrange * as, reorder,
    rearrange, sort * by, merge * into, merge, combine * into, join * on, join * with, concatenate,
    stitch * together, collapse * into, fold * into, line * up, write * out as, write * as, save * as,
    store * as, export * as, export * to, export, dump * as, dump * to, output * as, emit, produce,
    generate * from, build * from, import, give me * as, give * as, hand * back as, return * as, return * in,
    show * as, present * as, express * in, express * as, expand, clean, clean up, cleanup, tidy, tidy up,
    sanitize, sanitise, scrub, trim, strip, pad, truncate, shorten, capitalize, capitalise, unify, align,
    equalize, reconcile * into, rename * columns, fill in, fill * with, backfill, shift, offset, scale, round,
    translate, pull, pick, grab, take * from, copy * into, copy * from, retype, transcribe, categorize,
    categorise, classify, label, tag, annotate, bucket * into, one column, one per row, one per line, per row,
    want * as, want * in, need * as, need * in, filter, filter out, drop, remove, split, separate, format,
    structure, swallow it, digest it, wide to long, long format, tidy format, recode, rekey, resize, crop,
    compress, thumbnail, watermark, rotate, zip, unzip, shrink, convert * each";

const CALL: &str = "
    call * api, call * apis, call * endpoint, call * service, call * webhook, call the api, call out to,
    hit * endpoint, hit * api, hit the api, ping * endpoint, ping * api, ping * server, ping * service,
    ping * url, query * api, query * endpoint, query * service, query * server, query * database at,
    fetch * from * api, fetch * from * endpoint, fetch * from * service, fetch * from * server, api call,
    api request, http request, get request, post request, put request, rest call, http get, http post, curl,
    wget, invoke * endpoint, invoke * api, invoke * service, invoke * webhook, post * to * webhook,
    post * to * endpoint, post * to * api, post * to * slack, post * to * url, send * to * webhook,
    send * to * endpoint, send * to * api, push * to * api, push * to * endpoint, push * to * webhook,
    download * from * api, look * up in * api, look * up on * api, look * up via, look * up with * service,
    graphql query, webhook call, request * from * api, request * from * service, request * from * endpoint,
    request * from * server, pull * from * api, pull * from * service, pull * from * endpoint,
    pull * from * server, get * from * api, get * from * service, get * from * endpoint, get * from * server,
    retrieve * from * api, retrieve * from * service, retrieve * from * server, read * from * api,
    read * from * endpoint, ask * api, ask * service, ask * server, ask * endpoint, fire * at * endpoint,
    fire * at https, fire * at http, fire * at * url, send * request to, make * request to, trigger * webhook,
    trigger * endpoint, poll * endpoint, poll * api, poll * service, poll * url, submit * to * api,
    submit * to * endpoint, upload * to * api, upload * via * api, through * api, via * api, using * api,
    with * api, over http, over rest, get https, post https, get http, fetch https, fetch http, open https,
    request https, over its api, from their api";

const CHECK: &str = "
    validate, validation, revalidate, lint, verify, verification, make sure every, make sure all,
    make sure that all, make sure that every, make sure that each, make sure each, make sure no,
    make sure that no, make sure none, ensure all, ensure every, ensure each, ensure that all,
    ensure that every, ensure that each, ensure that no, ensure no, ensure none, audit, vet, cross-check,
    crosscheck, double-check, doublecheck, double check, spot-check, sanity-check, sanity check,
    fact-check * against, check that, check whether, check if, check all, check each, check every, check these,
    check those, check * against, check * for missing, check * for duplicate, check * for invalid,
    check * for errors, check * for gaps, check the checksum, check the schema, checksum, hash matches,
    match the schema, matches the schema, schema check, conform to, conforms to, comply with, complies with,
    compliance check, confirm that every, confirm that all, confirm that each, confirm every, confirm each,
    confirm all, confirm that no, proof * against, prove that every, test * against the schema,
    test * against * rules, compare * against, reconcile, reconcile * with, reconcile * against, hold * against,
    see whether every, see whether all, see if all, see if every, see whether each, see if each, is well-formed,
    are well-formed, well-formed, wellformed, passes the, fail the, fails the, satisfy the, satisfies the,
    adhere to, adheres to, meets the rules, meet the rules, up to spec, against the spec, against the schema,
    against the rules, proper checksum, valid according to, agrees with, agree with, tally with, ties out,
    tie out, balance against";

const CHECK_FRAMES: &str = "
    check, confirm, ensure, make sure, go over, go through, look over, look through, inspect, examine, screen,
    scan, test, proofread, police, weed out, catch, spot, flag, flag up, call out, which ones, which of,
    which rows, which records, which lines, which entries, tell me which, list the bad, any that, anything that,
    whatever is, whether, compare, match * with, match * against, is valid, are valid, is unique, are unique,
    is correct, are correct, is consistent, are consistent, adds up to, line up, lines up, sum to, sums to";

const SUM: &str = "
    sum, sum up, sum of, summarize the figures, summarise the figures, aggregate, aggregation, tally, tally up,
    tot up, total up, add up, add * up, add * together, count up, count the, count how, count all, count each,
    count every, count by, count per, count * by, count * per, count unique, count distinct, number of * per,
    number of * by, number of * for each, number of * in each, how many * per, how many * by, how many * each,
    how many * every, how many * did, how much * per, how much * did each, work out the average,
    work out the mean, average out, average over, average by, average per, average of, average * by,
    average * per, average * over, compute the average, compute the mean, calculate the average,
    calculate the mean, calculate the total, compute the total, calculate totals, compute totals, get the total,
    total * by, total * per, totals for, totals by, totals per, totals of, subtotal, subtotals, grand total,
    group by, group * by, grouped by, grouping by, broken down by, break down by, break * down by, breakdown by,
    breakdown of, breakdown per, roll up, roll * up, rollup, bucket * by, bin * by, histogram, frequency table,
    frequency of, frequencies, cross-tabulate, crosstab, cross-tab, pivot table, contingency table, leaderboard,
    descriptive statistics, summary statistics, statistics for, statistics of, statistics on, stats for,
    stats on, stats per, median, percentile, centile, quartile, quantile, standard deviation, variance, std dev,
    stddev, moving average, running total, cumulative, weighted average, arithmetic mean, mean of, mean and,
    mean per, mode of, min and max, minimum and maximum, lowest and highest, highest and lowest, top 5, top 10,
    top five, top ten, rank * by, rank the, ranking of, ranking by, ranked by, rank all, most frequent,
    most common, summarize * by, summarise * by, summarize * per, summarise * per, summarize sales,
    summarise sales, tabulate * by, compute statistics, calculate statistics, crunch the numbers,
    crunch * numbers, per-day totals, per day, per week, per month, per year, per hour, per region, per person,
    per customer, per country, per user, per category, per capita, year over year, year-on-year,
    month over month, month-on-month, growth rate, percentage of, percentages, share of each, proportion of,
    ratio of * to, distribution of";

const SUM_FRAMES: &str = "
    count, total, average, summarize, summarise, work out, calculate, compute, figure out, determine, rank,
    how many, how much, how often, how long did, what did each, what share, what percentage, what proportion,
    which * most, which * least, who * most, add, group, collate, consolidate, by each, per each, report of,
    report on, overview of, digest of, give me the totals, figures";

const MEASURES: &str = "
    total, totals, average, mean, sum, count, counts, median, maximum, minimum, max, min, percentage, percent,
    share, proportion, ratio, rate, balance, closing balance, revenue, turnover, takings, refunds, units, spend,
    spending, expenses, costs, hours, distance, amount, quantity, figures, statistics, stats, score, scores,
    frequency, distribution, histogram, growth, margin, profit, variance, deviation, throughput, latency,
    downtime, uptime, durations, duration, waiting times, occupancy, attendance, mileage, consumption, rainfall,
    error rate, hit rate, conversion rate, per cent, worth, top three, top 3, breakdown, subtotal, numbers";

const GROUPS: &str = "
    per, by month, by week, by day, by hour, by year, by region, by country, by customer, by category,
    by product, by person, by department, by team, by user, by type, by status, by date, by currency, by age,
    by store, by branch, by city, by class, by author, by service, by host, by name, by source, by quarter,
    for each, for every, in each, of each, each month, each week, each region, each customer, each store,
    each team, each person, each category, each product, each service, each user, grouped, broken down,
    respectively, across all, over all, did each, from each, each of";

const FORMATS: &str = "
    csv, tsv, json, jsonl, ndjson, json lines, yaml, yml, xml, html, markdown, toml, ini, xlsx, xls, ods, excel,
    spreadsheet, parquet, avro, protobuf, sqlite, sql dump, geojson, gpx, kml, shapefile, vcard, vcf, ics, ical,
    icalendar, bibtex, ris, latex, asciidoc, restructuredtext, rst, docx, pdf, pdfs, epub, srt, webvtt, vtt,
    xliff, po file, tmx, hl7, fhir, edi, edifact, swift mt940, mt940, camt, ofx, qif, qfx, sgml, svg, png, jpeg,
    jpg, webp, tiff, heic, midi, musicxml, fasta, fastq, vcf file, pcap, syslog, log file, logs, log line, dump,
    plain text, plain-text, fixed-width, pipe-delimited, tab-separated, comma-separated, delimited, delimiter,
    key-value, env file, .env, properties file, config file, config files, manifest, schema, base64 string, hex,
    utf-8, utf-16, shift-jis, latin-1, iso 8601, utc, unix time, epoch, pgn, fen, datev, openapi, har";

const RECORDS: &str = "
    row, rows, column, columns, cell, cells, record, records, entry, entries, line, lines, item, items, field,
    fields, table, dataset, data set, data, file, files, list, array, object, key, keys, value, values,
    header row, header, headers, log, transcript, export, dump file, table of, sheet, sheets, tab, feed, batch,
    statement, statements, ledger, roster, register, catalog, catalogue, inventory, price list, directory,
    database, db, invoice, invoices, receipt, receipts, order, orders, order lines, transaction, transactions,
    payment, payments, ticket, tickets, response, responses, answer, answers, submission, submissions, survey,
    form entries, sign-ups, signups, message, messages, email thread, thread, emails, contact, contacts,
    mailing label, labels, reading, readings, measurement, measurements, sample, samples, event, events,
    session, sessions, request log, access log, payload, document, documents, page, pages, note, notes, images,
    photos, pictures, scans, screenshots, tracks, recipe, recipes, ingredient, ingredients, citation, citations,
    reference list, references, bibliography, subtitle, subtitles, cue, cues, segments, string, strings, text,
    texts, name, names, commit, commits, test results, results, packages, translations, quotes, prices,
    coordinates, waypoints, bookmarks, playlist, playlists, grades, marks, students, pupils, employees,
    customers, members, users, accounts, products, articles, skus, sku, shipments, parcels, slips, timesheet,
    timesheets, schedule, fixtures, bullet list, bullets, chapters, words, tokens";

const FIELDS: &str = "
    timestamp, timestamps, date, dates, time zone, timezone, timezones, currency, currencies, amounts, units,
    unit, address, addresses, postcode, postcodes, zip code, zip codes, zip, phone number, phone numbers,
    telephone numbers, e-mail, email address, email addresses, iban, ibans, vat number, vat id, isbn, isbns,
    barcode, barcodes, ean, account number, account numbers, employee number, id number, ids, identifiers, uuid,
    uuids, url, urls, ip, ip address, ip addresses, mac address, status code, status codes, hostname, hostnames,
    version number, version numbers, checksum column, hash, hashes, signature, signatures, password, passwords,
    username, usernames, card number, card numbers, serial number, serial numbers, part number, latitude,
    longitude, temperatures, temperature, fahrenheit, celsius, miles, kilometres, kilometers, km, knots, mph,
    pounds, ounces, kilograms, kg, grams, cups, inches, centimetres, feet, metres, meters, gallons, litres,
    liters, dollars, euros, euro, usd, eur, gbp, jpy, minutes, seconds, milliseconds, decimal places, decimals,
    quantity, quantities, first name, surname, surnames, last name, middle name, initials, titles, title,
    author, year";

const MANY: &str = "
    all, every, each, both, every one, every single, all of, each of, any of, these, those, many, several,
    various, multiple, hundreds, thousands, dozens, dozen, whole, entire, throughout, in bulk, bulk, batch of,
    one by one, across, list of, the rest of the, full list, all the, all our, all my, everything, either,
    hundred, thousand";

const SEEK: &str = "
    find, list, flag, mark, highlight, report, name, show, point out, single out, look for, search for, tell me,
    give me, let me know, identify, spot, detect, collect, print, return, weed out, catch, mark up, call out,
    write down";

const FAULTS: &str = "
    invalid, missing, duplicate, duplicates, duplicated, malformed, broken, bad, wrong, incorrect, mismatch,
    mismatched, mismatches, inconsistent, empty, blank, blanks, gap, gaps, overlap, overlaps, overlapping,
    out of range, outside the range, out of order, out-of-range, outlier, outliers, over the limit, expired,
    not in, does not match, do not match, doesn't match, don't match, fail, fails, violate, violates, violating,
    violation, violations, illegal, unknown, orphan, orphans, orphaned, dangling, unresolved, dead links,
    broken links, off by, disagree, disagrees, differ, differs, deviates, negative, exceeds, exceed, non-unique,
    repeated values, impossible, implausible, suspicious, offenders, offending, too long, too short, too low,
    too high, too big, too small, corrupt, truncated, untranslated, unsigned, lacks, lack, nulls, typos in";

const RULES: &str = "
    must, must be, must not, must have, should be, should have, should not, has to be, have to be, needs to be,
    need to be, may not, no longer than, no shorter than, no more than, at least, at most, exactly, longer than,
    shorter than, between, within, greater than, less than, older than, younger than, over 18, plausible, valid,
    allowed, required, mandatory, unique, consistent, correct, well formed, non-empty, not empty, numeric,
    starts with, ends with, in the right format, right format, proper, correct format, characters long,
    digits long, digits, rule, rules, schema, constraint, constraints, spec, specification, regex, pattern,
    policy, guideline, limits, limit, range, naming convention, convention, checksum, check digit, luhn, mod-97,
    mod 97, mod-11, in ascending order, ascending, sorted, no two, none of, no line, no cue, no overlaps,
    no gaps, no duplicates, only contain, contain only, contains only, only digits, ascii only, positive";

const REACH: &str = "
    get, fetch, pull, pull down, retrieve, request, query, call, post, put, send, push, submit, download,
    upload, hit, ping, poll, ask, look up, lookup, read, fire, trigger, invoke, obtain, grab, load, sync,
    subscribe, publish, notify, register, check, search, list, delete, patch, create, open, charge, refund, book";

const REMOTE: &str = "
    api, apis, rest api, rest service, rest endpoint, endpoint, endpoints, webhook, webhooks, incoming webhook,
    web service, webservice, microservice, public api, http, https, url, graphql, grpc, soap, openapi, oauth,
    rpc, http endpoint, service's endpoint, remote server, staging server, central server, cloud service,
    rates service, weather service, geocoding service, geocoder, geocoding, service, server, slack,
    telegram bot, discord, stripe, paypal, twilio, sendgrid, noaa, github, gitlab, jira, salesforce, shopify,
    hubspot, openai, deepl, google maps, openstreetmap, nominatim, s3 bucket, cdn, mqtt, broker, gateway,
    portal, backend, third-party, external system, external service, upstream, sandbox, feed url, rss";

const NOTHING: &str = "
    check in, check-in, checked in, checking in, checks in, check out, check-out, checked out, checkout,
    check up, check-up, checkup, check mark, checkmark, checklist, checkbox, check box, personal check,
    paid by check, by check, a check, paper check, blank check, bank check, pay check, paycheck, in check,
    give check, given check, check mate, checkmate, spot check-in, rain check, background check, reality check,
    git checkout, hat check, fact check, in total, total nonsense, totally, total stranger, total eclipse,
    total mess, total disaster, on average, average person, average joe, average day, counts on, count on,
    counting on, counted on, count me in, count me out, count down, countdown, no account, lost count,
    count dracula, sum-mer, summer, summit, in sum, zero sum, zero-sum, north sum, lump sum, mean spirited,
    by all means, means, meaning, what it means, no means, medium format, format war, format wars, large format,
    in person format, format: in person, file format, informal, formal, formatting preferences, formats of,
    convertible, converter, power converter, religious conversion, conversion rate optimization,
    converted to islam, transformer, transformers, transformation of the city, parse this out loud,
    extract of vanilla, vanilla extract, malt extract, yeast extract, extractor, trans-form, get rid, get back,
    get well, get together, get ready, call off, call it off, call it a day, phone call, conference call,
    video call, call with, call sign, calls for, call for papers, call centre, call center, recall, roll call,
    close call, wake-up call, called off, call me, postpone, post office, post card, postcard, blog post,
    blog posts, post-it, job post, goal post, posted yesterday, customer service, room service, church service,
    service at, service dog, good service, poor service, front-end framework, endpoint security, hook,
    captain hook, group photo, group chat, group therapy, age group, working group, support group,
    group of friends, rank and file, taxi rank, top of the morning, validated parking, validate my feelings,
    feel validated, validation of feelings, clean joke, clean water, total recall, vet clinic, the vet, our vet,
    a vet, vet appointment, veterans, lint roller, audit committee, merge lane, strip club, comic strip,
    landing strip, film strip, trim of the coat, fold the laundry, scale model, scales, round table, round trip,
    round of, next round, tag line, drop by, drop in, drop * a line, drop me a line, pick up, pick me up,
    pick a, pick the, tally ho, weather permitting, filter coffee, split the bill, split up, export control,
    sorted out, of all time, all-hands, all right, after all, first of all, not at all, at all,
    every other person, each other, above all, once and for all";

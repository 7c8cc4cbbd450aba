//! English cues: repetition, requests, negation, hypotheticals, the past, and work of other kinds.

use super::{LexiconRow, Sense};

pub(super) const ROWS: &[LexiconRow] = &[
    (Sense::Repetition, AGAIN),
    (Sense::Regularity, OFTEN),
    (Sense::Instance, INSTANCE),
    (Sense::Request, ASK),
    (Sense::Negation, NOT),
    (Sense::PostNegation, NOT_BEFORE),
    (Sense::Hypothetical, IF),
    (Sense::Past, PAST),
    (Sense::Topic, ABOUT),
    (Sense::OtherWork, OTHER),
    (Sense::OtherWork, ADVICE),
    (Sense::LocalEdit, EDIT),
    (Sense::Ignored, NOTHING),
];

const AGAIN: &str = "
    again and again, over and over, time and again, time after time, repeatedly, repeat for, repeat this for,
    repeat the same, repeat * for each, repeat * for every, repeat that for, keep having to, keeps having to,
    keep doing, i keep, we keep, same again, same thing again, same as yesterday, same as last time,
    same as last week, same as last month, same as before, same chore, same drill, same steps, same procedure,
    same routine, same job, same task, same work, same way as, same for, same treatment, same for the rest,
    same for every, same for all, same for each, do the same for, do the same with, do the same to,
    do likewise for, identical steps, once more for, yet again, here we go again, as usual, the usual,
    as always, as every, just like last, like last time, like every, every time, each time, whenever,
    any time somebody, second time, third time, fourth time, fifth time, sixth time, seventh time, eighth time,
    ninth time, tenth time, umpteenth time, nth time, hundredth time, twice this week, twice today,
    third day running, fourth day running, days running, weeks running, months running, days in a row,
    weeks in a row, months in a row, times in a row, times already, times this week, times this month,
    times today, times a day, times a week, times per day, times per week, fifth friday, friday running,
    monday running, tuesday running, wednesday running, thursday running, for every one of, for each one of,
    for each of the, for each of these, for each of our, for every file, for each file, for all * files,
    on every release, on each release, for every release, at every release, with every release,
    one after another, one after the other, on repeat, rinse and repeat, in a loop, loop over, iterate over,
    go on with the rest, carry on with the, continue with the rest, continue with the remaining,
    do the remaining, the remaining ones, next batch, another batch, one more batch, another one just came in,
    another one has just, another one of those, keep going until, back again, manually every, did for,
    what you did, exactly what you did, as you did, again for, over again, same procedure for, same steps for,
    same process for, same edit, same change, same fix, same edits, same changes, apply * to each,
    apply * to every, apply * to all, apply the same, one at a time, each of them, every one of them,
    for all of them, to all of them, to each of the, to each of them, to every one, the same again,
    for the third, for the fourth, for the fifth, for the umpteenth, once more, once again, find myself,
    keep on, keep repeating, still the same, each and every, after every, before every, after each, before each,
    on every, on each, at every, at each, with every, with each, with each new, every new, each new,
    every incoming, each incoming, for each new, for every new, any new, as soon as a, when a new, per release,
    per file, all 12, all 20, all 30, all 40, all 50, all 60, for all 20, for all 25, for all 30, for all 40,
    for all 50, repeat the, repeat this, repeat it, repeat that, repeat with, repeat on, go on like this,
    like this for, like that for, like the others, like the rest, like the other, as with the others,
    as with the rest, in the same way, in the same fashion, in the same manner, yet another, sixth, seventh one,
    it's the third, it's the fourth, it's the fifth, it's the sixth, it's the seventh, go on with, keep at it,
    the way you did, just as you did, like you did, what i do after, same * in all, same * for all,
    same * for each, same * for every, same * to all, same * to each, same * to every, same layout, third batch,
    fourth batch, fifth batch, second batch today, another lot";

const OFTEN: &str = "
    every day, every morning, every evening, every night, every week, every month, every quarter, every year,
    every monday, every tuesday, every wednesday, every thursday, every friday, every saturday, every sunday,
    every hour, every shift, every sprint, every term, every other day, every two weeks, each day, each morning,
    each evening, each night, each week, each month, each quarter, each year, each monday, each friday,
    each sprint, each shift, each release, every release, each term, each time we, daily, nightly, weekly,
    monthly, quarterly, hourly, yearly, annually, fortnightly, biweekly, regularly, routinely, constantly,
    frequently, periodically, on a daily basis, on a weekly basis, once a day, once a week, once a month,
    twice a day, twice a week, twice a month, day after day, day in day out, week after week, month after month,
    mondays, tuesdays, wednesdays, thursdays, fridays, saturdays, sundays, first of the month,
    end of each month, end of every month, end of every, start of every, at the end of each, always,
    all the time, recurring, recurrent, repetitive, routine, chore, ritual";

const INSTANCE: &str = "
    today's, this week's, this month's, this quarter's, this morning's, tonight's, tomorrow's, this year's,
    this time, this one too, here is, here are, here's, here comes, do today, do this week, next one,
    the next one, next file, next batch, the rest, the remaining, the other files, another one, one more,
    go ahead, latest batch, latest export, latest file, new batch, just come in, just came in, just arrived,
    has arrived, have arrived, attached, the attached, is attached, enclosed, for january, for february,
    for march, for april, for june, for july, for august, for september, for october, for november,
    for december, now do, now for, now the, tonight, the new batch, new one, new ones, new lot, one more lot,
    below is, is below, are below, here are today's, this one, this week, this month, today, now it is,
    time again, it's time, do the same, the same, january's, february's, march's, april's, june's, july's,
    august's, september's, october's, november's, december's, monday's, tuesday's, wednesday's, thursday's,
    friday's, are here, last night's, yesterday's";

const ASK: &str = "
    please, can you, could you, would you, i need, we need, i want, we want, i'd like, we'd like, let's,
    help me, go ahead, kindly, want you to, need you to, make sure, have to, need to, must, should, i'll need,
    give me, get me, let me have, i have to, we have to, i would like, we would like, your job, your task,
    the task, todo, task is to, don't forget, do not forget, never forget, remember to, be sure to";

const NOT: &str = "
    not, don't, do not, doesn't, does not, didn't, did not, won't, will not, wouldn't, can't, cannot, isn't,
    is not, aren't, never, no need, no longer, no more, no reason to, no point, needn't, need not, without,
    instead of, rather than, other than, skip, stop, avoid, refrain, nobody, no one, nothing to, cancel,
    hold off, leave out, leave * alone, shouldn't, should not, mustn't, nor, neither, hardly, rarely, seldom,
    abandon, ditch, forget about, drop the idea, ignore, disregard, without having to, no conversion,
    no validation, no aggregation, no api, no check, no parsing, no formatting, don't bother, no call for,
    spare yourself, rather not, we won't, gave up, not worth, isn't worth, nobody needs, no one needs,
    not going to, not planning to, isn't going to, no plans to, opted out of, decided against";

const NOT_BEFORE: &str = "
    unnecessary, not necessary, isn't necessary, not needed, isn't needed, not required, out of scope, unneeded,
    is not needed, are not needed, aren't needed, is unnecessary, can wait, is off the table";

const IF: &str = "
    if, suppose, supposing, imagine, assuming, in case, unless, were we to, should we ever, should we,
    hypothetically, in theory, theoretically, one day, some day, someday, might, may want, may need,
    may have to, may one day, would, would have, could have, could one, what if, eventually, at some point,
    sooner or later, down the road, in future, in the future, later on, later this year, next year, perhaps,
    maybe, possibly, ever, when we get to, when the time comes, when we have, thinking of, thinking about,
    plan to, planning to, considering, consider, toying with, dream of, wish, hoping to, if ever,
    whether we should, should i, should the, we'd, they'd, he'd, she'd, you'd, should there, were there, had we,
    it would be, would be lovely, if only, some year, one of these days, when i retire";

const PAST: &str = "
    already, yesterday, last night, last week, last month, last year, last monday, last tuesday, last wednesday,
    last thursday, last friday, previously, was done, were done, is done, are done, been done, done and dusted,
    has been, have been, had been, is finished, was finished, finished, is complete, was completed,
    have completed, completed, earlier today, this morning, a while ago, long ago, days ago, weeks ago,
    months ago, an hour ago, signed off, took care of, taken care of, went through, used to, is over, are over,
    i've, we've, they've, he's, she's, has just, have just, got done, wrapped up, is behind us, in the past,
    back in, once was, by the night shift, by hand already, that's been retired, been retired, was retired,
    got retired, all that's left, all that is left, no longer, went away, is gone, are gone, did it, did that,
    was settled, is settled, dealt with, sorted out, took it over, has gone, have gone, was shipped,
    were shipped, was sent, were sent";

const ABOUT: &str = "
    explain, explanation, describe, why, how come, essay, blog post, chapter about, novel, paper on,
    paper about, history of, story of, lecture, talk on, talk about, documentary, course on, course about,
    tutorial on, introduction to, definition of, meaning of, concept of, idea of, philosophy of, theory of,
    difference between, pros and cons, proposal, design review, design doc, design document, review the design,
    discuss, discussion, debate, meeting about, memo about, about the, about calling, about our, about how,
    on how, guidelines, documentation for, docs for, docs on, slides on, slides about, presentation on,
    presentation about, wording of, tone of, opinion on, opinion of, opinion about, thoughts on, thoughts about,
    feel about, think about, thinks, feelings about, in plain words, to a newcomer, to a beginner, to beginners,
    to a child, to a colleague, for beginners, for kids, difference between * and, the word, the term,
    the phrase, the title, the name of, variable, docstring, signature line, who invented, who wrote,
    where does the word, curious, wonder, wondering, impression of, your impression, chapter on, what is a,
    what is an, what's an, what is meant, what * is good for, what are apis";

const OTHER: &str = "
    write * note, write * letter, write * mail, write * email, write * e-mail, write * message to,
    write * reply, write * post, write * essay, write * article, write * story, write * poem, write * paragraph,
    write * sentence, write * sentences, write * lines, write * apology, write * invitation,
    write * introduction, write * speech, write * summary for, write * announcement, write * opinion piece,
    write * blurb, write * bio, write * review, write * slogan, write * caption, write * toast, write * thank,
    write * congratulat, write her, write him, write them a, write to, write up a, write a short, write two,
    write three, write a two-line, write a polite, write a few, draft, compose, reply, replying, respond to,
    answer the mail, answer the email, answer tom, email back, mail back, apologise, apologize, apology,
    congratulate, congratulating, thank, thank-you, thank you note, thanks to, greet, welcome note,
    welcome message, farewell, condolence, drop * a line, say sorry, tell the team that, tell them that,
    let them know that, a headline, subject line, caption for, motivational, jot down, book a table,
    book a room, book a flight, schedule a, reschedule, postpone, move the meeting, cancel the,
    set up a meeting, arrange a meeting, put on the calendar, find a time, hike, walk the, cook, bake, sketch,
    paint, sing, translate this, proofread my, pick a colour, pick a color, choose a colour, choose a color,
    colour scheme, color scheme, friendlier, warmer, softer, bolder, punchier, catchier, funnier, off-by-one,
    unit test, unit tests, a test for, tests for the function, refactor, debug, stack trace, install, uninstall,
    upgrade, set the log level, log level, show me the diff, merge conflict, checkout, wish him, wish her,
    wish them, civil letter, polite letter, kind note, call me, turn down, decline, accept the invitation,
    wedding toast, good name, name for, transfer the call, review, reviewing, to-do list, todo list,
    print two copies, short story, opening line, something witty, witty, tweet, smiley, comment it out,
    fax number, congratulate the winner, a poem, a haiku, a limerick, a song, a joke, a toast, a speech,
    an essay, an editorial, an obituary, my diary, a blurb, a slogan, a tagline, a motto, an invitation,
    invitation to, a greeting, birthday card, birthday rhyme, a rhyme, a compliment, a reminder,
    an announcement, the tone, the wording, the phrasing, the logo, the font, the palette, the bug, a bug,
    this bug, that bug, the crash, new branch, encourage, encouraging, cheer up, console, argue, argue against,
    loosen up, say thanks, tell her thanks, into french, into english, into german, into italian, into spanish,
    into japanese, into chinese, into korean, into portuguese, into latin, by one sentence, by a sentence,
    say goodbye, say hello, say something nice, complaint, complain about, look at the map, nearest to,
    what to wear, flowers for, gift for, a present for, initial page, sign page, scan page, hide column,
    hide the column, restore it, restart, reboot, nice weekend, good luck, get well, bedtime story, small talk,
    romantic";

const ADVICE: &str = "
    suggest, suggestion, suggestions, recommend, recommendation, advise, advice, propose a, brainstorm,
    think of a, come up with a, come up with three, come up with some, come up with, ideas for, idea for,
    any ideas, what do you think, do you think, your opinion, your view, your thoughts, your take, opinion,
    which do you prefer, do you prefer, would you rather, preference, which is better, which reads better,
    which looks better, which sounds better, which one is nicer, which would you, which book, which colour,
    which color, should i, should we, is it worth, worth it, worth learning, how would you feel, do you find,
    do you like, would you like, do you agree, agree with me, matter of taste, too fussy, too stiff, too formal,
    too informal, sounds clumsy, lean towards, pros and cons, compare the merits, merits of, plan for, plan a,
    debate, weigh up, what should, how should i, how do i persuade, how can i convince, tips, tips for,
    teach me, teach, explain, describe, tell me why, tell me what a, tell me a, tell me whether you, why is,
    why does, why do, why did, what does * mean, what is an, what is a, what's the difference, who is, who was,
    when was, when does, where is, where do, where can, read the article, read the chapter, read the book,
    have a read, have a look at the wording, review the proposal, review the design, design review,
    look over the wording, look over the text, feedback on, how should, how would you, how would i,
    what would you, should hang, choosing between, a hand choosing, which of the two, what time, who signed,
    give me your, your impression, impression, where would you, where should, when should, what's a good,
    is there a nicer, ending for, do we really, do we want, do we need, do we have to, is it cool, cool or,
    good for, how was, which suits, what suits, would you live, make of, how do you feel, whom should,
    who should, argue with you, discuss with me, debate with me, in your view, in your opinion, convince me";

const EDIT: &str = "
    rename, renaming, fix the typo, fix a typo, typo, fix the bug, fix the spelling, misspelled, spelling, bump,
    commit, committing, push the branch, merge the pull request, open a pull request, cherry-pick, revert,
    delete the sentence, delete the line, delete that line, delete this, delete the paragraph, remove the line,
    remove the sentence, remove the paragraph, add a line, add a sentence, add a comment, add a docstring,
    docstring, add the declaration, add the import, add a paragraph, add a link, change the heading,
    change the title, change the colour, change the color, change the button, change the label,
    change the wording, change the name, change the text, change the word, move the button, move the file,
    move that file, make it say, reword, rephrase, put * in cell, line 3, on line, in line, at line,
    second line, third line, first line, one place, single place, one spot, just the heading, only the heading,
    second paragraph, third paragraph, first paragraph, last paragraph, that paragraph, the paragraph,
    that sentence, the sentence, the heading, the title, the headline, the subject, the footer, the button,
    the tooltip, leave everything else, leave the rest, everything else as it is, open that file, open the file,
    read me the, readme, contributing, changelog, license, license file, faq, semicolon, cut that, settings.py,
    in the wiki, from the wiki, the mention, delete the word, delete the, remove the mention, create an empty,
    empty folder, lock file, the icon, next to the, run the tests, run the test suite, run tests";

const NOTHING: &str = "
    not only, not just, why not, if any, if possible, if you can, if you like, if you could, if necessary,
    if needed, if there are, if there is, if missing, see if, check if, tell me if, know if, as if, even if,
    whether or not, would you, i would like, we would like, would be great, would be nice, would be good,
    should be, should have, may not, not in, not valid, not empty, must not, does not match, do not match,
    doesn't match, don't match, did not match, anything not, not found, not yet, not equal, never been,
    instead of commas, instead of semicolons, instead of tabs, as they are today, read me, last line, last row,
    last column, last name, last names, bake-off, walk through, played, play count, play counts, plays per,
    we'd like, they'd like, you'd like, sum up your, sum up my, sum up how";

"""Fuel profiles, and results in notebooks."""

import asyncio
import copy
import html.parser
import json
import pickle

import pytest

from toolcell import AsyncToolbox, Profile, Refused, Stopped, Toolbox, ToolFailed

SUM = """function spin(n) {
  let s = 0;
  for (let i = 0; i < n; i++) s += i;
  return s;
}
const execute = ({ n }) => spin(n) + spin(n);
"""
# The name of the method is what a tool would need to leave the frame of a notebook.
HOSTILE_NAME = """</script>&quot;<b>"'><img src=x onerror=alert(1)>"""
HOSTILE = f"""const methods = {{ [{json.dumps(HOSTILE_NAME)}]({{ n }}) {{ let s = 0; for (let i = 0; i < n; i++) s += i; return s }} }}
const execute = (p) => methods[Object.keys(methods)[0]](p) // </td></table><script>alert(1)</script>
"""


@pytest.fixture(params=["process", "worker"])
def box(tmp_path, request):
    with Toolbox(tmp_path / "store", isolation=request.param) as box:
        box.create("sum", "Adds up", SUM, parameters={"n": {"type": "number", "required": True}})
        yield box


@pytest.fixture
def profile(box):
    profile = box.run("sum", {"n": 20_000}, profile=True).profile
    assert profile is not None
    return profile


def adds_up(profile):
    outside = profile.outside.engine + profile.outside.other_tools + profile.outside.unattributed
    functions = sum(function.own for function in profile.functions)
    stacks = sum(stack.fuel for stack in profile.stacks)
    return functions + outside == stacks + outside == profile.fuel


def test_the_profile_of_a_tool_adds_up_to_the_fuel_of_the_same_run(box):
    plain = box.run("sum", {"n": 20_000})
    run = box.run("sum", {"n": 20_000}, profile=True)
    assert plain.profile is None and run.profile is not None
    assert run.value == plain.value and run.profile.fuel == run.fuel == plain.fuel and adds_up(run.profile)
    profile = run.profile
    assert (profile.tool, profile.outcome) == ("sum", "returned") and profile.samples > 0
    assert profile.functions[0].name == "spin" and profile.functions[0].line == 1
    assert max(profile.lines, key=lambda line: line.own).line == 3
    assert len(profile.model.guest) == 64 and profile.model.engine
    assert repr(profile).startswith("Profile(tool='sum', outcome='returned', fuel=") and len(repr(profile)) < 120


def test_the_profile_of_code_adds_up_to_the_fuel_of_the_same_run(box):
    plain = box.run_code(SUM, {"n": 20_000})
    run = box.run_code(SUM, {"n": 20_000}, profile=True)
    assert run.value == plain.value and run.profile.fuel == run.fuel == plain.fuel and adds_up(run.profile)
    assert plain.profile is None and run.profile.functions[0].name == "spin"


def test_a_run_that_fails_has_a_profile_too(box):
    with pytest.raises(Stopped) as stopped:
        box.run("sum", {"n": 10**9}, limits={"fuel": 1_000_000}, profile=True)
    assert stopped.value.run.profile.outcome == "out-of-fuel" and adds_up(stopped.value.run.profile)
    with pytest.raises(ToolFailed) as failed:
        box.run_code("const execute = () => { throw new Error('no') }", profile=True)
    assert failed.value.run.profile.outcome == "threw" and adds_up(failed.value.run.profile)


def test_a_profile_in_an_event_loop(tmp_path):
    async def main():
        async with AsyncToolbox(tmp_path / "async", isolation="process") as box:
            await box.create("sum", "Adds up", SUM)
            for run in (await box.run("sum", {"n": 5_000}, profile=True), await box.run_code(SUM, {"n": 5_000}, profile=True)):
                assert adds_up(run.profile) and run.profile.fuel == run.fuel

    asyncio.run(main())


def test_a_worker_takes_the_same_profile():
    profiles = []
    for isolation in ("process", "worker"):
        with Toolbox(isolation=isolation) as box:
            profiles.append(box.run_code(SUM, {"n": 20_000}, profile=True).profile)
    assert profiles[0] == profiles[1]


def test_a_flame_graph_is_an_svg_with_the_names_of_the_functions(profile):
    drawn = profile.flame_graph()
    assert "<svg" in drawn and drawn.rstrip().endswith("</svg>") and "spin" in drawn
    assert drawn == profile.flame_graph()


def test_a_profile_of_nothing_has_no_flame_graph_and_is_shown_all_the_same(box):
    with pytest.raises(ToolFailed) as failed:
        box.run_code("throw new Error('at once'); const execute = () => 1", profile=True)
    profile = failed.value.run.profile
    with pytest.raises(Refused) as empty:
        profile.flame_graph()
    assert empty.value.code == "profile-empty" and profile._repr_html_().startswith("<table>")


def test_a_profile_is_json_and_pickled(box, profile):
    carried = json.loads(json.dumps(profile.to_json()))
    assert carried["format"] == "toolcell-profile-1" and carried["loadFuel"] == profile.load_fuel
    assert Profile.from_json(carried) == profile and Profile.from_json(carried).flame_graph() == profile.flame_graph()
    for other in (pickle.loads(pickle.dumps(profile)), copy.copy(profile), copy.deepcopy(profile)):
        assert other == profile and other.to_json() == carried
    run = box.run("sum", {"n": 100}, profile=True)
    for again in (pickle.loads(pickle.dumps(run)), copy.copy(run), copy.deepcopy(run)):
        assert again.profile == run.profile and again.value == run.value


def changed(profile, change):
    data = profile.to_json()
    change(data)
    return data


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (lambda data: data.clear(), "it has no format"),
        (lambda data: data.update(format="x" * 1000), "its format is 'xxx"),
        (lambda data: data.pop("fuel"), "it has no fuel"),
        (lambda data: data.update(fuel="5"), "fuel is a str, it must be a int"),
        (lambda data: data.update(fuel=True), "fuel is a bool, it must be a int"),
        (lambda data: data.update(samples=-1), "samples is -1, it must be 0 or more"),
        (lambda data: data.update(model=None), "model is a NoneType, it must be a dict"),
        (lambda data: data["outside"].pop("engine"), r"it has no outside\['engine'\]"),
        (lambda data: data.update(functions={}), "functions is a dict, it must be a list"),
        (lambda data: data["functions"][1].update(own=None), r"functions\[1\]\['own'\] is a NoneType"),
        (lambda data: data["lines"].append(5), r"lines\[3\] is a int, it must be a dict"),
        (lambda data: data["stacks"][0].update(frames=[[0]]), r"stacks\[0\]\['frames'\]\[0\] is not a pair"),
        (lambda data: data["stacks"][0].update(frames=[[99, 0]]), "a stack has the function 99, there are"),
        (lambda data: data["functions"][0].update(own=0), "its functions add up to"),
        (lambda data: data["stacks"][0].update(fuel=10**12), "its stacks add up to"),
    ],
)
def test_what_is_not_a_profile_is_refused_with_its_place(profile, change, says):
    with pytest.raises(ValueError, match=f"this is not a profile: .*{says}"):
        Profile.from_json(changed(profile, change))


@pytest.mark.parametrize("nonsense", ["{}", None, 5, []])
def test_a_profile_is_a_dict(nonsense):
    with pytest.raises(TypeError, match="a profile is a .*, it must be a dict"):
        Profile.from_json(nonsense)


class Tags(html.parser.HTMLParser):
    """The tags of a page, with their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags = []
        self.text = ""
        self.feed(page)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))

    def handle_data(self, text):
        self.text += text

    def names(self):
        return {tag for tag, _ in self.tags}


def test_a_hostile_name_cannot_leave_the_frame_of_a_notebook(box):
    profile = box.run_code(HOSTILE, {"n": 20_000}, profile=True).profile
    assert profile.functions[0].name == HOSTILE_NAME
    shown = Tags(profile._repr_html_())
    assert shown.names() == {"iframe", "table", "tr", "th", "td"}
    (frame,) = (attributes for tag, attributes in shown.tags if tag == "iframe")
    assert set(frame) == {"sandbox", "style", "srcdoc"} and frame["sandbox"] == "allow-scripts"
    assert "</td></table><script>alert(1)</script>" in shown.text
    # Nor is it markup inside.
    drawn = Tags(frame["srcdoc"])
    assert frame["srcdoc"] == profile.flame_graph() and "svg" in drawn.names()
    assert not {"b", "img", "iframe"} & drawn.names()
    assert [tag for tag, _ in drawn.tags].count("script") == 1


def test_the_most_expensive_lines_are_below_the_flame_graph(profile):
    shown = profile._repr_html_()
    cells = [line.own for line in sorted(profile.lines, key=lambda line: line.own, reverse=True)]
    assert shown.index(f"{cells[0]:,}") < shown.index(f"{cells[1]:,}") and "for (let i = 0; i &lt; n; i++) s += i;" in shown


def test_findings_are_shown_in_a_notebook(box):
    source = "const execute = ({ code }) => { while (true) { if (code) return '<script>alert(1)</script>' } }"
    analysis = box.analyze("const execute = () => eval('<script>alert(1)</script>')")
    assert analysis.findings
    shown = Tags(analysis._repr_html_())
    assert shown.names() == {"table", "tr", "th", "td"} and analysis.findings[0].rule in shown.text
    assert analysis.findings[0].description in shown.text
    created = box.create("loops", "Loops", source)
    told = Tags(created._repr_html_())
    assert told.names() <= {"table", "tr", "th", "td", "p"} and created.id in told.text
    for finding in created.findings:
        assert finding.rule in told.text
    assert "no findings" in box.analyze("const execute = ({ n }) => 2 * n")._repr_html_()

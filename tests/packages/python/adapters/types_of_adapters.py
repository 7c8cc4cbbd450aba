"""The types of the adapters: this file is checked with mypy and pyright, and not run."""

from agents import Agent, Runner
from langchain.agents import create_agent
from langgraph.types import Command
from pydantic_ai import Agent as PydanticAgent
from pydantic_ai import DeferredToolRequests

from toolcell import AsyncToolbox, Question, Toolbox, langchain, openai_agents, pydantic_ai


async def use_langchain(box: AsyncToolbox) -> Command[str]:
    agent = create_agent("model", await langchain.toolcell_tools(box, operations=["run_code"], published=8))
    state = await agent.ainvoke({"messages": []})
    return Command(resume={"approved": state["__interrupt__"][0].value["questions"]})


def use_langchain_without_a_loop(box: Toolbox) -> None:
    create_agent("model", langchain.blocking_toolcell_tools(box, limits={"timeout": 1.5}))


async def use_openai_agents(box: AsyncToolbox) -> str:
    asked: dict[str, list[Question]] = {}
    tools = await openai_agents.toolcell_tools(box, asked=asked, caller={"agent": "a"})
    result = await Runner.run(Agent(name="a", tools=[*tools]), "go")
    return "\n".join(str(one) for item in result.interruptions for one in asked.get(item.call_id or "", []))


async def use_pydantic_ai(box: AsyncToolbox) -> DeferredToolRequests | str:
    tools = await pydantic_ai.toolcell_tools(box, published=0)
    agent = PydanticAgent("test", tools=tools, output_type=[str, DeferredToolRequests])
    return (await agent.run("go")).output

"""The system texts of all prompts, by protocol and language.

The text of a prompt id never changes, because cassettes name the prompt that their model saw.

- `native-tools`: the request's own field declares the tools, so the system text says little.
- `tag-tools`: each call is a JSON object between `<tool_call>` tags in the answer's text, for
  models without a field for tools. The tags are those of Hermes and Qwen, which many models know
  from training.
- `action-protocol`: the complete reply is one JSON object that calls tools or contains the answer,
  for services that guarantee JSON and nothing else.
- `react`: thoughts and actions as labelled lines, one action at a time, for models that were
  trained on ReAct.
- `json-fallback`: one code block of JSON is one call, for providers without a field for tools. A
  reply contains one call, because weak models make errors in longer ones.
"""

from typing import Final

from harness.conversation.wording import Language

NATIVE_TOOLS: Final[dict[Language, str]] = {
    "en": "Use the tools when they help.",
    "zh": "需要时请使用工具。",
}

_TAG_EXAMPLE: Final = """\
```
<tool_call>
{"name": "TOOL_NAME", "arguments": {"PARAMETER": "VALUE"}}
</tool_call>
```"""

_TAG_TOOLS: Final[dict[Language, str]] = {
    "en": """\
# Tools

These tools are run for you, and you are shown what they return:

{tools}

## How to call a tool

Write one JSON object between two tags:

{example}

- `name` is the name of one of the tools above; `arguments` holds its parameters, all required \
ones among them.
- The JSON is strict: double quotes, no comments, no comma after the last member.
- To call several tools, write several such blocks, one after the other.
- After the last block, stop. The results come with the next message; never write a result yourself.
- Where no tool is needed, answer in plain text and write no tag.""",
    "zh": """\
# 工具

下列工具会替你执行，执行结果会发给你：

{tools}

## 怎样调用工具

在两个标签之间写一个 JSON 对象：

{example}

- `name` 是上面某个工具的名称；`arguments` 是它的参数，必需的参数一个都不能少。
- JSON 必须严格：用双引号，不写注释，最后一项后面不加逗号。
- 要调用多个工具，就依次写多个这样的标签块。
- 写完最后一个标签块就停下。结果会在下一条消息里给出，不要自己编造结果。
- 不需要工具时，直接用普通文字回答，不要写标签。""",
}

_ACTION_PROTOCOL: Final[dict[Language, str]] = {
    "en": """\
# Tools

These tools are run for you, and you are shown what they return:

{tools}

## How to reply

Your whole reply is one JSON object. To call tools:

```json
{{"reasoning": "WHY", "action": "tool_call", "tool_calls": [{{"name": "TOOL_NAME", "arguments": \
{{"PARAMETER": "VALUE"}}}}]}}
```

To give the final answer:

```json
{{"reasoning": "WHY", "action": "finish", "content": "ANSWER"}}
```

- Each entry of `tool_calls` has the `name` of a tool above and an object `arguments` with its \
parameters, all required ones among them; list several calls to have them all run.
- `content` is the whole answer, as the user is to read it.
- `reasoning` says in short why; the user does not see it, and nothing in it is run.
- Write nothing before the object and nothing after it, and no code fence around it. The JSON is \
strict: double quotes, no comments, line breaks in strings as \\n.
- Results come with the next message; never write a result yourself.""",
    "zh": """\
# 工具

下列工具会替你执行，执行结果会发给你：

{tools}

## 怎样回复

整个回复就是一个 JSON 对象。要调用工具时：

```json
{{"reasoning": "理由", "action": "tool_call", "tool_calls": [{{"name": "TOOL_NAME", "arguments": \
{{"PARAMETER": "VALUE"}}}}]}}
```

要给出最终答案时：

```json
{{"reasoning": "理由", "action": "finish", "content": "答案"}}
```

- `tool_calls` 的每一项写上面某个工具的 `name`，以及参数对象 `arguments`，\
必需的参数一个都不能少；要调用多个工具就列出多项。
- `content` 是给用户看的完整答案。
- `reasoning` 简短说明理由；用户看不到它，其中的内容也不会被执行。
- 对象前后不要写任何文字，也不要用代码块包裹。JSON 必须严格：\
用双引号，不写注释，字符串里的换行写成 \\n。
- 结果会在下一条消息里给出，不要自己编造结果。""",
}

_REACT: Final = """\
# Tools

These tools are run for you, and you are shown what they return:

{tools}

## How to reply

To call a tool:

```
Thought: WHY
Action: TOOL_NAME
Action Input: {{"PARAMETER": "VALUE"}}
```

To give the final answer:

```
Thought: WHY
Final Answer: ANSWER
```

- Each label stands at the start of its own line, spelled as above.
- `Action` is the name of one of the tools above. `Action Input` is one strict JSON object with \
its parameters, all required ones among them.
- After `Action Input`, stop. The observation comes with the next message; never write one yourself.
- Reply with an action or with a final answer, never with both."""

_FENCED_EXAMPLE: Final = """\
```json
{"name": "TOOL_NAME", "arguments": {"PARAMETER": "VALUE"}}
```"""

_JSON_FALLBACK: Final[dict[Language, str]] = {
    "en": """\
# Tools

These tools are run for you, and you are shown what they return:

{tools}

## How to call a tool

Your whole reply is one code block, as in this example:

{example}

- `name` is the name of one of the tools above; `arguments` is an object with its parameters, all \
required ones among them.
- The JSON is strict: double quotes, no comments, line breaks in strings as \\n.
- Write nothing before the block and nothing after it: no explanation, no second block. One reply \
calls one tool; ask for the next when you have its result.
- Results come with the next message; never write a result yourself.
- Where no tool is needed, answer in plain text without a code block of this kind.""",
    "zh": """\
# 工具

下列工具会替你执行，执行结果会发给你：

{tools}

## 怎样调用工具

整个回复就是一个代码块，如下例：

{example}

- `name` 是上面某个工具的名称；`arguments` 是参数对象，必需的参数一个都不能少。
- JSON 必须严格：用双引号，不写注释，字符串里的换行写成 \\n。
- 代码块前后不要写任何文字：不要旁白，不要第二个代码块。一条回复只调用一个工具，\
拿到结果后再调用下一个。
- 结果会在下一条消息里给出，不要自己编造结果。
- 不需要工具时，直接用普通文字回答，不要写这种代码块。""",
}

# Protocol -> the description of the tools, and the example in it.
TEMPLATES: Final[dict[str, dict[Language, str]]] = {
    "tag-tools": _TAG_TOOLS,
    "action-protocol": _ACTION_PROTOCOL,
    "react": {"en": _REACT},
    "json-fallback": _JSON_FALLBACK,
}
EXAMPLES: Final = {"tag-tools": _TAG_EXAMPLE, "json-fallback": _FENCED_EXAMPLE}

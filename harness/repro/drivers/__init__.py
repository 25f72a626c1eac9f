"""One driver for each library: what agent code does with it, in the library's language.

`harness repro` prints a driver, and an adapter or a client wraps it. So a driver uses nothing but
its library, the standard library and the modules of `shared`, whose source a script contains too.
Its name is that of the adapter, where Python has underscores.

A driver in Python, NAME.py, defines

- `connect(base_url)`, which returns a client of the library. It takes `dialect`, the API, if it
  reads several, and `http`, the HTTP client or transport that the library uses; None for its own.
  A driver that takes part in timing scenarios also takes `timeout`, the seconds without data, None
  for the default of the library, and `max_retries`;
- `drive(client)`, which sends one request and yields what agent code gets, as soon as the library
  hands it over, and asks for no more before. Of an async library it is a coroutine, and gets
  `emit`, which it awaits with each event. It takes `request`, members of the recorded request, if
  they decide how a user calls the library;
- `DOCUMENTED`, the exceptions that the library documents. One that `drive` lets pass is a failure.

The events are tuples:

- `"text", text` and `"reasoning", text`: a piece, which may be empty;
- `"call", id, name, arguments`: agent code gets the call with raw text, or with a value that the
  library parsed; a kind may follow, if not `function`;
- `"value", id, name, value`: so it does, and a text is a value that the library parsed;
- `"checked", id, name, arguments`: so it does, but first the arguments are compared with the tool;
- `"rejected", id, name, arguments, reason`: the library or its agent loop does not execute it;
- `"usage", input_tokens, output_tokens`;
- `"finish", word, meaning`: stop, tool_calls, length, content_filter or other; another meaning may
  follow, which it has if a call is executed;
- `"failure", code, message`: the answer failed.

A driver in JavaScript, NAME.mjs, exports

- `hello`, what the client declares, with `package`, whose version it reports;
- `drive(test, turn)`, an async function as `readTurn` of `clients/node/harness-client.mjs`, which
  writes what agent code gets to `turn`;
- `isDocumented(error)`, whether the library documents an exception;
- `FINISH`, the meanings of its finish words, if they are not those of OpenAI's chat completions.
"""

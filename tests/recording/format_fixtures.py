"""The fixtures in `formats/`, each written after the documentation of its format."""

from pathlib import Path

FORMATS = Path(__file__).parent / "formats"
STREAM = (FORMATS / "stream.sse").read_bytes()
# Fixture -> its container, its number of streams, and where its format is documented.
FIXTURES = {
    "go-vcr-v2.yaml": ("go-vcr", 1, "https://pkg.go.dev/github.com/dnaeon/go-vcr/v2/cassette"),
    "go-vcr-v3.yaml": ("go-vcr", 1, "https://pkg.go.dev/gopkg.in/dnaeon/go-vcr.v3/cassette"),
    "nock.json": ("nock", 1, "https://github.com/nock/nock#recording"),
    "nock-hex.json": ("nock", 2, "https://github.com/nock/nock#recording"),
    "request-response.json": ("http-json", 1, "docs/how-to/import-recordings.md"),
    "flat.json": ("http-json", 1, "docs/how-to/import-recordings.md"),
    "php-vcr.json": ("http-json", 1, "https://github.com/php-vcr/php-vcr#readme"),
    "vcrpy.json": ("http-json", 1, "https://vcrpy.readthedocs.io/en/latest/advanced.html"),
    "datadog.json": (
        *("http-json", 1),
        "https://github.com/DataDog/dd-apm-test-agent, vcr-cassettes",
    ),
    "langchain.yaml": (
        *("vcr-lists", 1),
        "https://github.com/langchain-ai/langchain, libs/standard-tests, CustomSerializer",
    ),
    "seinfeld/seinfeld.cassette.json": (
        *("seinfeld", 4),
        "https://github.com/braintrustdata/braintrust-sdk-javascript, dev-packages/seinfeld",
    ),
    "seinfeld/legacy.json": (
        *("seinfeld", 1),
        "https://github.com/braintrustdata/braintrust-sdk-javascript, migrate-from-legacy.mjs",
    ),
    "polly/Weather_823972681/recording.har": (
        *("har", 4),
        "https://github.com/Netflix/pollyjs, docs/examples.md and docs/persisters/fs.md",
    ),
    "polly-browser.json": ("har", 1, "https://github.com/Netflix/pollyjs, docs/quick-start.md"),
    "wiremock/mappings/body-file.json": ("wiremock", 1, "https://wiremock.org/docs/stubbing/"),
    "wiremock/mappings/several.json": ("wiremock", 2, "https://wiremock.org/docs/stubbing/"),
    "hoverfly/v1.json": (
        *("hoverfly", 1),
        "https://github.com/SpectoLabs/hoverfly/blob/v0.10.0/docs/pages/keyconcepts",
    ),
    "hoverfly/v2.json": (
        *("hoverfly", 1),
        "https://github.com/SpectoLabs/hoverfly/blob/v0.12.2/docs/pages/reference",
    ),
    "hoverfly/v5.json": (
        *("hoverfly", 3),
        "https://docs.hoverfly.io/en/latest/pages/reference/simulationschema.html",
    ),
    "postman.json": (
        *("postman", 1),
        "https://schema.postman.com/collection/json/v2.1.0/draft-07/docs/index.html",
    ),
    "azure-test-proxy.json": (
        *("http-layouts", 2),
        "https://github.com/Azure/azure-sdk-tools, tools/test-proxy",
    ),
    "req-cassette.json": ("http-layouts", 2, "https://hexdocs.pm/req_cassette"),
    "mockserver.json": ("http-layouts", 2, "https://www.mock-server.com, expectations"),
    "easyvcr.json": ("http-layouts", 1, "https://github.com/EasyPost/easyvcr-csharp"),
    "scotch.json": ("http-layouts", 1, "https://github.com/mleech/scotch"),
    "charles.chlsj": (
        "http-layouts",
        1,
        "https://www.charlesproxy.com/documentation, JSON session",
    ),
    "keploy.yaml": ("http-layouts", 1, "https://keploy.io/docs, mocks.yaml"),
    "responses.yaml": ("http-layouts", 1, "https://github.com/getsentry/responses, recorder"),
    "proxay.yml": ("http-layouts", 1, "https://github.com/airtasker/proxay"),
    "betamax.json": ("http-json", 1, "https://betamax.readthedocs.io/en/latest/cassettes.html"),
    "exvcr.json": ("http-json", 1, "https://hexdocs.pm/exvcr"),
}
# Formats that do not store the body of the request.
WITHOUT_REQUEST = ("flat.json", "responses.yaml")

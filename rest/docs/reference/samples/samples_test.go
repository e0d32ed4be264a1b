package samples_test

import (
	"bytes"
	"encoding/json"
	"go/format"
	"os/exec"
	"slices"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/mailhelm/mailhelm/rest/docs/reference/samples"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// allRequests returns the example request of each operation with a route.
func allRequests(t *testing.T) map[string]samples.Request {
	t.Helper()
	requests := map[string]samples.Request{}
	for _, op := range catalogue.Operations(catalogue.Domains{}) {
		at := slices.IndexFunc(rest.Routes(), func(r rest.Route) bool { return r.Operation == op.Info().Name })
		if at < 0 {
			continue
		}
		r, err := samples.Of(op.Info(), routeOf(rest.Routes()[at]), "https://api.test")
		if err != nil {
			t.Fatal(err)
		}
		requests[op.Info().Name] = r
	}
	if len(requests) < 60 {
		t.Fatalf("only %d operations have a route", len(requests))
	}
	return requests
}

func routeOf(r rest.Route) samples.Route {
	return samples.Route{Method: r.Method, Path: r.Path, Items: r.Items, TakesBody: r.TakesBody()}
}

func TestOf(t *testing.T) {
	t.Parallel()
	info := core.OperationInfo{Name: "things_change", Effect: core.Writes, Example: `{"id":"a/b@c","z":1,"a":["x"]}`}
	got, err := samples.Of(info, samples.Route{Method: "PUT", Path: "/v1/things/{id}", TakesBody: true}, "https://api.test")
	want := samples.Request{
		Method: "PUT", URL: "https://api.test/v1/things/a%2Fb%40c", Key: "example-things-change",
		Body: "{\n  \"z\": 1,\n  \"a\": [\n    \"x\"\n  ]\n}",
	}
	if err != nil || got != want {
		t.Errorf("%v\n got %+v\nwant %+v", err, got, want)
	}
	info.Effect = core.Reads
	got, err = samples.Of(info, samples.Route{Method: "GET", Path: "/v1/things/{id}"}, "https://api.test")
	if err != nil || got.URL != "https://api.test/v1/things/a%2Fb%40c?z=1&a=%5B%22x%22%5D" || got.Key != "" {
		t.Errorf("%v %+v", err, got)
	}
	info.Example = "[]"
	if _, err := samples.Of(info, samples.Route{Method: "GET", Path: "/v1/things"}, ""); err == nil {
		t.Error("an example that is not an object is accepted")
	}
	info.Example = ""
	if _, err := samples.Of(info, samples.Route{Method: "GET", Path: "/v1/things/{id}"}, ""); err == nil {
		t.Error("an example without a path parameter is accepted")
	}
	list := samples.Route{Method: "POST", Path: "/v1/things", Items: "items", TakesBody: true}
	info.Example = `{"note":"n","items":[1]}`
	if got, err := samples.Of(info, list, ""); err != nil || got.Body != "[\n  1\n]" {
		t.Errorf("%v %+v", err, got)
	}
	for _, info.Example = range []string{"", `{"note":"n"}`} {
		if _, err := samples.Of(info, list, ""); err == nil {
			t.Errorf("the example %q without the list is accepted", info.Example)
		}
	}
}

func TestCurlQuotes(t *testing.T) {
	t.Parallel()
	r := samples.Request{Method: "POST", URL: "https://api.test/v1/x", Body: `{"name":"it's"}`}
	want := "curl -s -X POST 'https://api.test/v1/x' \\\n  -H \"Authorization: Bearer $API_KEY\" \\\n  -H 'Content-Type: application/json' \\\n  -d '{\"name\":\"it'\\''s\"}'"
	if got := r.Curl(); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

// TestGoIsFormatted checks that each program in Go is valid and has the form of gofmt.
func TestGoIsFormatted(t *testing.T) {
	t.Parallel()
	for name, r := range allRequests(t) {
		formatted, err := format.Source([]byte(r.Go() + "\n"))
		if err != nil || string(formatted) != r.Go()+"\n" {
			t.Errorf("%s: %v\n%s", name, err, r.Go())
		}
	}
}

// TestOtherLanguagesAreValid has Node.js and Python compile each program.
func TestOtherLanguagesAreValid(t *testing.T) {
	t.Parallel()
	typescript, python := map[string]string{}, map[string]string{}
	for name, r := range allRequests(t) {
		typescript[name], python[name] = r.TypeScript(), r.Python()
	}
	compile(t, typescript, "node", "-e", `
		for (const [name, text] of Object.entries(JSON.parse(require("fs").readFileSync(0, "utf8")))) {
			try { new Function("return async () => {" + text + "}"); } catch (e) { console.log(name + ": " + e); process.exitCode = 1; }
		}`)
	compile(t, python, "python3", "-c", "import json, sys\nfor name, text in json.load(sys.stdin).items():\n    compile(text, name, 'exec')")
}

// compile passes the programs as a JSON object to a command that compiles them, in a
// subtest.
func compile(t *testing.T, programs map[string]string, name string, arguments ...string) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		t.Parallel()
		if _, err := exec.LookPath(name); err != nil {
			enginetest.SkipMissing(t, name+" is not on this machine: the documented programs cannot be compiled")
		}
		text, err := json.Marshal(programs)
		if err != nil {
			t.Fatal(err)
		}
		cmd := exec.CommandContext(t.Context(), name, arguments...)
		cmd.Stdin = bytes.NewReader(text)
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%s: %v\n%s", name, err, out)
		}
	})
}

package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/bundles/plan"
	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// bundleOf returns a bundle whose definitions differ from those of all other rounds, and belong together:
// segments test attributes and lists, and workflows begin with segments.
func bundleOf(round int) string {
	const each = 20
	files, attributes := map[string]string{}, map[string]any{}
	lists, segments, templates, workflows := map[string]any{}, map[string]any{}, map[string]any{}, map[string]any{}
	for i := range each {
		key := fmt.Sprintf("r%d_%d", round, i)
		attributes[key] = map[string]any{"type": "number"}
		lists[key] = map[string]any{"name": key}
		segments[key] = map[string]any{"path": "audience/" + key + ".predicate"}
		files["audience/"+key+".predicate"] = fmt.Sprintf("attr.%s > %d and in list %q", key, i, key)
		// An import removes no templates, so those of the round before get other content.
		templates[fmt.Sprintf("t%d", i)] = map[string]any{"path": "templates/" + key + ".hbs"}
		files["templates/"+key+".hbs"] = "<p>" + key + "</p>"
		workflows[key] = map[string]any{"path": "workflows/" + key + ".flow"}
		files["workflows/"+key+".flow"] = fmt.Sprintf("workflow %q v1 {\n  enter on segment %q\n\n  wait 1 day\n}\n", key, key)
	}
	schema, _ := json.Marshal(map[string]any{"type": "object", "properties": attributes})
	files["attributes.json"] = string(schema)
	text, _ := json.Marshal(map[string]any{"files": files, "manifest": map[string]any{
		"attributes": "attributes.json", "lists": lists, "segments": segments, "templates": templates, "workflows": workflows,
	}})
	return string(text)
}

// importedBundle is the answer to an import.
type importedBundle struct {
	Plan    plan.Plan `json:"plan"`
	Applied bool      `json:"applied"`
}

func importBundle(t *testing.T, d demoOutput, bundle, query string) importedBundle {
	t.Helper()
	a := request(t, http.MethodPost, d["base_url"]+"/v1/import"+query, d["api_key"], bundle)
	var i importedBundle
	if err := json.Unmarshal([]byte(a.body), &i); err != nil || a.status != http.StatusOK {
		t.Fatalf("%d %s: %v", a.status, a.body, err)
	}
	return i
}

// TestImportOfABundleOutlivesAKilledServer kills servers while they import bundles. Of each kind all
// definitions must then be there, or none, in the order of the kinds, and importing the same bundle again
// must finish the work.
func TestImportOfABundleOutlivesAKilledServer(t *testing.T) {
	t.Parallel()
	engines := func(t *testing.T, test func(t *testing.T, postgres bool)) { test(t, false) }
	if enginetest.Full() { // the usual run has one engine, because starting servers takes seconds
		engines = enginetest.EachEngine
	}
	engines(t, func(t *testing.T, postgres bool) {
		servers, chance := newServers(t, postgres), rand.New(rand.NewPCG(21, uint64(*kills)))
		server, d := servers.launch()
		began := time.Now()
		if !importBundle(t, d, bundleOf(0), "?dry_run=false").Applied {
			t.Fatal("a bundle was not applied")
		}
		duration, parts := time.Since(began), map[int]int{}
		for round := 1; round <= *kills; round++ {
			bundle := bundleOf(round)
			answered := sendBundle(t, d, bundle)
			kill := time.NewTimer(time.Duration(chance.Int64N(int64(duration))))
			select {
			case <-kill.C:
			case <-answered:
			}
			server.signal(syscall.SIGKILL)
			if !server.waits() {
				t.Fatal("the server outlives SIGKILL")
			}
			<-answered
			server, d = servers.launch()
			parts[wholeKinds(t, importBundle(t, d, bundle, "?prune=true").Plan)]++
			began = time.Now()
			if !importBundle(t, d, bundle, "?dry_run=false&prune=true").Applied {
				t.Fatalf("round %d: the bundle was not applied after the kill", round)
			}
			// The duration of a whole import of a server that has just been started.
			duration = max(duration, time.Since(began))
			if again := importBundle(t, d, bundle, "?prune=true").Plan; again.Totals[plan.Unchanged] != len(again.Objects) {
				t.Errorf("round %d: %+v", round, again.Totals)
			}
		}
		t.Logf("kills by the number of kinds that were applied before: %v", parts)
	})
}

// sendBundle imports a bundle with a server that will be killed. The channel is closed when the call has
// ended.
func sendBundle(t *testing.T, d demoOutput, bundle string) <-chan struct{} {
	t.Helper()
	r, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodPost, d["base_url"]+"/v1/import?dry_run=false&prune=true", strings.NewReader(bundle))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Authorization", "Bearer "+d["api_key"])
	r.Header.Set("Content-Type", "application/json")
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		client := &http.Client{Timeout: endTimeout}
		if answer, err := client.Do(r); err == nil {
			io.Copy(io.Discard, answer.Body) //nolint:errcheck // the server is killed
			answer.Body.Close()
		}
	}()
	return ended
}

// wholeKinds returns the number of kinds that are applied, and fails if one is applied in part, or after
// one that is not.
func wholeKinds(t *testing.T, p plan.Plan) int {
	t.Helper()
	whole, missing := 0, definitions.Kind("")
	for _, kind := range definitions.Kinds() {
		same, created := len(p.Keys(kind, plan.Unchanged)), len(p.Keys(kind, plan.Create, plan.Update))
		switch {
		case same > 0 && created > 0:
			t.Errorf("%d of the kind %s are applied, and %d are not", same, kind, created)
		case same > 0 && missing != "":
			t.Errorf("the kind %s is applied, and %s before it is not", kind, missing)
		case same > 0:
			whole++
		case created > 0:
			missing = kind
		}
	}
	return whole
}

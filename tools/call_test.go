package tools_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"
)

func TestCallAnswersAtEveryRevision(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range allRevisions {
		a := w.send(call(revision, "contacts_lookup", map[string]any{"email": "ann@example.com"})).result(t)
		if a.Result.IsError || a.Result.Structured["email"] != "ann@example.com" {
			t.Errorf("%s: %+v", revision, a.Result)
		}
		if len(a.Result.Content) != 1 || a.Result.Content[0].Text != `{"email":"ann@example.com","note":"plain","writes":0}` {
			t.Errorf("%s: content %+v", revision, a.Result.Content)
		}
		if wantType := map[bool]string{true: "complete"}[revision == modern]; a.Result.ResultType != wantType {
			t.Errorf("%s: resultType %q", revision, a.Result.ResultType)
		}
	}
}

func TestToolFailureIsAResult(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	r := w.send(call(legacy, "contacts_lookup", map[string]any{"email": "nobody@example.com"}).with("X-Request-Id", "trace-1"))
	a := r.result(t)
	got := a.Result.Structured
	if !a.Result.IsError || got["code"] != "not_found" || got["status"] != 404.0 || got["resource"] != "contact" || got["request_id"] != "trace-1" {
		t.Errorf("structured content %v", got)
	}
	if got["message"] != got["detail"] || got["hint"] == "" || strings.Contains(got["hint"].(string), "path") {
		t.Errorf("message and hint: %v", got)
	}
	if want := got["message"].(string) + " " + got["hint"].(string); a.Result.Content[0].Text != want {
		t.Errorf("text %q, want %q", a.Result.Content[0].Text, want)
	}
	if a.Result.Meta["dev.mailhelm/requestId"] != "trace-1" || r.header.Get("X-Request-Id") != "trace-1" {
		t.Errorf("request id: meta %v, header %q", a.Result.Meta, r.header.Get("X-Request-Id"))
	}
}

func TestArgumentsAreValidatedOnce(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for name, arguments := range map[string]map[string]any{
		"missing":    {},
		"misspelled": {"Email": "ann@example.com"},
		"none":       nil,
	} {
		a := w.send(call(legacy, "contacts_lookup", arguments)).result(t)
		if !a.Result.IsError || a.Result.Structured["code"] != "validation_failed" || len(a.Result.Structured["errors"].([]any)) == 0 {
			t.Errorf("%s: %+v", name, a.Result)
		}
	}
}

func TestDerivedAndExplicitReplay(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	plain := call(legacy, "contacts_upsert", map[string]any{"email": "ann@example.com"})
	keyed := func(key string) ask {
		return rpc(legacy, "tools/call", map[string]any{
			"name": "contacts_upsert", "arguments": map[string]any{"email": "ann@example.com"},
			"_meta": map[string]any{"dev.service/idempotencyKey": key},
		})
	}
	steps := []struct {
		name   string
		ask    ask
		wait   time.Duration
		writes float64
		replay bool
	}{
		{"first", plain, 0, 1, false},
		{"the same again", plain, time.Minute, 1, true},
		{"a fresh key", keyed("k"), 0, 2, false},
		{"the key again", keyed("k"), 23 * time.Hour, 2, true},
		{"long after", plain, 0, 3, false},
	}
	for _, step := range steps {
		w.pass(step.wait)
		a := w.send(step.ask).result(t)
		if a.Result.Structured["writes"] != step.writes || (a.Result.Meta["dev.service/idempotentReplay"] == true) != step.replay {
			t.Errorf("%s: %v, meta %v", step.name, a.Result.Structured, a.Result.Meta)
		}
	}
	if w.ops.upserts.Load() != 3 {
		t.Errorf("%d writes", w.ops.upserts.Load())
	}
}

func TestIdempotencyKeyMustBeAString(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, key := range []any{7, "", strings.Repeat("k", 256), nil, []any{}} {
		a := w.send(rpc(legacy, "tools/call", map[string]any{
			"name": "contacts_upsert", "arguments": map[string]any{"email": "ann@example.com"},
			"_meta": map[string]any{"dev.service/idempotencyKey": key},
		})).result(t)
		if !a.Result.IsError || a.Result.Structured["code"] != "validation_failed" {
			t.Errorf("%v: %+v", key, a.Result)
		}
	}
	if w.ops.upserts.Load() != 0 {
		t.Error("a call with a bad key was carried out")
	}
}

func TestHiddenCharactersLeaveTheText(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.ops.text.Store("pay\u202eload\u200b <b>\u001b")
	a := w.send(call(legacy, "contacts_lookup", map[string]any{"email": "ann@example.com"})).result(t)
	if want := `{"email":"ann@example.com","note":"payload <b>","writes":0}`; a.Result.Content[0].Text != want {
		t.Errorf("text %q, want %q", a.Result.Content[0].Text, want)
	}
	if a.Result.Meta["dev.mailhelm/hiddenCharactersRemoved"] != 3.0 {
		t.Errorf("meta %v", a.Result.Meta)
	}
	if a.Result.Structured["note"] != "pay\u202eload\u200b <b>\u001b" {
		t.Errorf("structured content lost data: %q", a.Result.Structured["note"])
	}
}

func TestPanicEndsOneCall(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, revision := range allRevisions {
		r := w.send(call(revision, "audience_get_schema", nil))
		a := r.result(t)
		if !a.Result.IsError || a.Result.Structured["code"] != "internal_error" || strings.Contains(r.body, "secret") {
			t.Errorf("%s: %s", revision, r.body)
		}
	}
	lines := w.log.lines(t, "call")
	if len(lines) != len(allRevisions) || lines[0]["level"] != "ERROR" || !strings.Contains(lines[0]["cause"].(string), "probes_test.go") {
		t.Errorf("log: %v", lines)
	}
	w.wantQuiet(t)
	w.send(call(legacy, "contacts_lookup", map[string]any{"email": "ann@example.com"})).result(t)
}

func TestClientThatLeavesCancelsTheOperation(t *testing.T) {
	t.Parallel()
	for _, revision := range allRevisions {
		t.Run(revision, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			ctx, leave := context.WithCancel(t.Context())
			a := call(revision, "contacts_set_list_membership", nil)
			r, err := http.NewRequestWithContext(ctx, http.MethodPost, w.url+"/mcp", strings.NewReader(a.body))
			w.must(err)
			for name, value := range a.header {
				r.Header.Set(name, value)
			}
			r.Header.Set("MCP-Protocol-Version", revision)
			r.Header.Set("Content-Type", "application/json")
			r.Header.Set("Authorization", "Bearer live")
			gone := make(chan struct{})
			go func() {
				defer close(gone)
				if response, err := w.http.Do(r); err == nil {
					response.Body.Close()
				}
			}()
			<-w.ops.entered
			leave()
			if err := <-w.ops.ended; err == nil {
				t.Error("the operation's context did not end")
			}
			<-gone
		})
	}
}

// TestMetaNamesAreMailhelms checks the prefix of each member of _meta. The specification
// fixes two names with another prefix; MCP has its own.
func TestMetaNamesAreMailhelms(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	write := call(legacy, "contacts_upsert", map[string]any{"email": "ann@example.com"})
	seen := map[string]bool{}
	for range 2 {
		for name := range w.send(write).result(t).Result.Meta {
			seen[name] = true
			fixed := name == "dev.service/idempotencyKey" || name == "dev.service/idempotentReplay"
			if !fixed && !strings.HasPrefix(name, "dev.mailhelm/") && !strings.HasPrefix(name, "io.modelcontextprotocol/") {
				t.Errorf("_meta has %s", name)
			}
		}
	}
	if !seen["dev.mailhelm/requestId"] || !seen["dev.service/idempotentReplay"] {
		t.Errorf("_meta has only %v", seen)
	}
}

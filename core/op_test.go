package core_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core"
)

type probeIn struct {
	Email string         `json:"email" jsonschema:"format=email,maxLength=320" jsonschema_description:"Address."`
	Limit int            `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200"`
	Since *time.Time     `json:"since,omitempty"`
	Off   *bool          `json:"off,omitempty" jsonschema:"nullable"`
	Page  string         `json:"page,omitempty" only:"rest"`
	Attrs map[string]any `json:"attributes,omitempty"`
}

func probe() core.Operation {
	return core.Declare(core.Op[probeIn, core.Page[string]]{
		Name: "probe_run", Purpose: "Probe.",
		Do: func(context.Context, *core.Call, probeIn) (core.Page[string], error) {
			return core.Page[string]{Items: []string{"a"}, Total: 3}, nil
		},
	})
}

func TestDecodeExplainsEveryFault(t *testing.T) {
	t.Parallel()
	op := probe()
	for name, tc := range map[string]struct {
		surface core.Surface
		raw     string
		field   string
		reason  string
	}{
		"missing":           {core.REST, `{}`, "email", "is required"},
		"unknown":           {core.REST, `{"email":"a@b.c","emial":1}`, "emial", "is unknown; known names are email, limit, since, off, page, attributes"},
		"wrong case":        {core.REST, `{"Email":"a@b.c"}`, "Email", "is unknown"},
		"too large":         {core.REST, `{"email":"a@b.c","limit":201}`, "limit", "must be at most 200"},
		"not a number":      {core.REST, `{"email":"a@b.c","limit":"x"}`, "limit", "must be integer"},
		"format":            {core.REST, `{"email":"nobody"}`, "email", "must be a valid email address"},
		"date without time": {core.REST, `{"email":"a@b.c","since":"2026-03-02"}`, "since", "must be a valid date-time, such as 2026-03-02T08:00:00Z"},
		"nullable":          {core.REST, `{"email":"a@b.c","off":1}`, "off", "must be boolean or null"},
		"twice":             {core.REST, `{"email":"a@b.c","email":"d@e.f"}`, "email", "names a member twice"},
		"nul":               {core.REST, `{"email":"a@b.c","attributes":{"x":"a\u0000b"}}`, "attributes.x", "NUL"},
		"deep":              {core.REST, strings.Repeat("[", 10000), "", "nested deeper"},
		"trailing":          {core.REST, `{"email":"a@b.c"} {}`, "", "after the JSON value"},
		"other surface":     {core.Agent, `{"email":"a@b.c","page":"x"}`, "page", "is unknown"},
		"not an object":     {core.REST, `[]`, "", "must be object"},
		"invalid utf-8":     {core.REST, "{\"email\":\"a@b.c\xff\"}", "", "not valid JSON"},
		"not json":          {core.REST, `{"email":`, "", "not valid JSON"},
		"empty white space": {core.REST, `  `, "", "is empty"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, err := op.Decode(tc.surface, []byte(tc.raw))
			e := core.AsError(err)
			if e == nil || e.Code != core.CodeValidationFailed {
				t.Fatalf("Decode(%.60q) = %v, want validation_failed", tc.raw, err)
			}
			if len(e.Fields) == 0 || tc.field != "" && e.Fields[0].Field != tc.field || !strings.Contains(e.Fields[0].Reason, tc.reason) {
				t.Errorf("fields = %+v, want %q to say %q", e.Fields, tc.field, tc.reason)
			}
		})
	}
}

func TestDecodeAcceptsNullForNullable(t *testing.T) {
	t.Parallel()
	in, err := probe().Decode(core.REST, []byte(`{"email":"a@b.c","off":null,"limit":5,"attributes":{"a":null}}`))
	if err != nil {
		t.Fatal(err)
	}
	if got := in.(probeIn); got.Off != nil || got.Limit != 5 {
		t.Errorf("got %+v", got)
	}
}

func TestPageLooksDifferentOnEachSurface(t *testing.T) {
	t.Parallel()
	op := probe()
	out, _ := op.Do(t.Context(), &core.Call{}, probeIn{})
	rest := op.View(core.REST, out).(core.Envelope[string])
	agent := op.View(core.Agent, out).(core.Sample[string])
	if rest.Pagination.HasMore || len(rest.Data) != 1 {
		t.Errorf("rest view = %+v", rest)
	}
	if !agent.Truncated || agent.Shown != 1 || agent.Total != 3 || agent.More == "" {
		t.Errorf("agent view = %+v", agent)
	}
	if s := string(op.Output(core.REST).Text()); !strings.Contains(s, "next_cursor") || strings.Contains(s, "truncated") {
		t.Errorf("rest schema = %s", s)
	}
	if s := string(op.Input(core.Agent).Text()); strings.Contains(s, "page") || !strings.Contains(s, `"additionalProperties":false`) {
		t.Errorf("agent input = %s", s)
	}
}

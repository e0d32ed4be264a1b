package rest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/guardrails"
	"github.com/mailhelm/mailhelm/rest"
	"github.com/prometheus/client_golang/prometheus"
)

// probes has test operations. calls counts how often probe_write ran.
type probes struct {
	calls atomic.Int64
	// entered receives a value when a call of probe_wait begins; the call continues when
	// proceed is closed.
	entered, proceed chan struct{}
}

func newProbes() *probes {
	return &probes{entered: make(chan struct{}), proceed: make(chan struct{})}
}

type readIn struct {
	Name  string `json:"name" jsonschema:"maxLength=100" jsonschema_description:"Name."`
	Limit int    `json:"limit,omitempty" jsonschema:"minimum=1,maximum=200" jsonschema_description:"Limit."`
	Deep  int64  `json:"deep,omitempty" jsonschema_description:"Any integer."`
	On    *bool  `json:"on,omitempty" jsonschema:"nullable" jsonschema_description:"Switch."`
	Text  string `json:"text,omitempty" jsonschema_description:"Text."`
}

type writeIn struct {
	Name  string         `json:"name" jsonschema_description:"Name."`
	Note  *string        `json:"note,omitempty" jsonschema:"nullable" jsonschema_description:"Note."`
	Patch map[string]any `json:"patch,omitempty" jsonschema_description:"Patch."`
}

type written struct {
	Name  string         `json:"name"`
	Patch map[string]any `json:"patch,omitempty"`
	New   bool           `json:"new"`
	Count int64          `json:"count"`
}

func (w written) WasCreated() bool { return w.New }

func (p *probes) operations() []core.Operation {
	return []core.Operation{
		core.Declare(core.Op[readIn, readIn]{
			Name: "probe_read", Title: "Read", Purpose: "Shows what it was asked.",
			Do: func(_ context.Context, _ *core.Call, in readIn) (readIn, error) { return in, nil },
		}),
		core.Declare(core.Op[writeIn, written]{
			Name: "probe_write", Title: "Write", Purpose: "Counts its calls.", Effect: core.Writes,
			Do: func(_ context.Context, _ *core.Call, in writeIn) (written, error) {
				n := p.calls.Add(1)
				return written{in.Name, in.Patch, in.Name == "new", n}, nil
			},
		}),
		core.Declare(core.Op[writeIn, written]{
			Name: "probe_wait", Title: "Wait", Purpose: "Waits in the middle.", Effect: core.Writes,
			Prepare: func(_ context.Context, _ *core.Call, in writeIn) (writeIn, error) {
				p.entered <- struct{}{}
				<-p.proceed
				return in, nil
			},
			Do: func(context.Context, *core.Call, writeIn) (written, error) { return written{}, nil },
		}),
		core.Declare(core.Op[readIn, readIn]{
			Name: "probe_panic", Title: "Panic", Purpose: "Panics.",
			Do: func(context.Context, *core.Call, readIn) (readIn, error) { panic("a mistake in the program") },
		}),
		core.Declare(core.Op[readIn, readIn]{
			Name: "probe_fail", Title: "Fail", Purpose: "Fails.",
			Do: func(context.Context, *core.Call, readIn) (readIn, error) {
				return readIn{}, errors.New("the secret inside")
			},
		}),
	}
}

var probeRoutes = []rest.Route{
	{Method: "GET", Path: "/v1/probes/{name}", Operation: "probe_read", Success: 200},
	{Method: "PUT", Path: "/v1/probes/{name}", Operation: "probe_write", Success: 200, MayCreate: true},
	{Method: "PATCH", Path: "/v1/probes/{name}", Operation: "probe_write", Success: 200},
	{Method: "DELETE", Path: "/v1/probes/{name}", Operation: "probe_write", Success: 204},
	{Method: "POST", Path: "/v1/probes", Operation: "probe_write", Success: 201},
	{Method: "POST", Path: "/v1/waits", Operation: "probe_wait", Success: 201},
	{Method: "GET", Path: "/v1/panics/{name}", Operation: "probe_panic", Success: 200},
	{Method: "GET", Path: "/v1/failures/{name}", Operation: "probe_fail", Success: 200},
}

func newProbeStack(t testing.TB) (*stack, *probes) {
	t.Helper()
	p := newProbes()
	return newStack(t, p.operations(), probeRoutes...), p
}

// confirming returns a test operation that needs a confirmation.
func confirming() core.Operation {
	return core.Declare(core.Op[readIn, readIn]{
		Name: "probe_confirm", Title: "Confirm", Purpose: "Asks first.", Effect: core.Destroys,
		Confirm: func(context.Context, *core.Call, readIn) (*core.Confirmation, error) {
			return &core.Confirmation{}, nil
		},
		Do: func(context.Context, *core.Call, readIn) (readIn, error) { return readIn{}, nil },
	})
}

// documentationCatalogue returns the catalogue of the product's operations and additional
// ones, without stores. Its operations can be described but not called.
func documentationCatalogue(more ...core.Operation) *guardrails.Catalogue {
	guard := guardrails.New(guardrails.Config{Clock: core.SystemClock, Metrics: prometheus.NewRegistry()})
	return guard.Catalogue(append(catalogue.Operations(catalogue.Domains{}), more...))
}

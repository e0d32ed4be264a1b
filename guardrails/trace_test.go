package guardrails

import (
	"context"
	"fmt"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/prometheus/client_golang/prometheus"
)

// TestObservingAllocatesNothing checks that counting a call allocates no memory, and that
// tracing allocates none if there is no tracer.
func TestObservingAllocatesNothing(t *testing.T) { //nolint:paralleltest // allocations of others would be counted
	g := &Guard{metrics: newMetrics(prometheus.NewRegistry())}
	p := &passage{info: core.OperationInfo{Name: "op"}, call: &core.Call{Surface: core.Agent}, replayed: true}
	o := &Operation{guard: g, info: p.info}
	ctx := context.Background()
	for name, observe := range map[string]func(){
		"tracing": func() {
			_, span := g.startSpan(ctx, p)
			g.endSpan(span, "ok")
		},
		"counting a call":   func() { g.metrics.count(p, "replayed", nil, 0.001) },
		"counting bytes":    func() { o.CountAnswer(core.Agent, 1000, true) },
		"counting declined": o.CountDecline,
	} {
		if got := testing.AllocsPerRun(100, observe); got != 0 {
			t.Errorf("%s: %v allocations", name, got)
		}
	}
}

// TestRefusedBoundsItsLabels checks that operation names chosen by callers do not become
// labels of metrics.
func TestRefusedBoundsItsLabels(t *testing.T) {
	t.Parallel()
	registry := prometheus.NewRegistry()
	g := &Guard{metrics: newMetrics(registry)}
	c := &Catalogue{guard: g, byName: map[string]*Operation{"op": {}}}
	for _, name := range []string{"op", "made up", "made up too", ""} {
		c.CountRefusal(core.Agent, name, "unknown_tool")
	}
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	var counted []string
	for _, f := range families {
		for _, m := range f.GetMetric() {
			if n := m.GetCounter().GetValue(); n > 0 {
				counted = append(counted, fmt.Sprint(f.GetName(), m.GetLabel(), n))
			}
		}
	}
	if len(counted) != 2 {
		t.Errorf("the series are %v", counted)
	}
}

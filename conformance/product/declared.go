package product

import (
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"testing"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/catalogue"
	"github.com/mailhelm/mailhelm/rest/docs/reference"
)

// undeclared is a log handler that collects the calls that failed with a code that the
// documentation does not name for their operation. It passes all records to Handler.
type undeclared struct {
	slog.Handler
	declared map[[2]string][]core.Code // codes by operation and surface
	found    *foundCalls
}

// foundCalls has texts such as "contacts_get on rest: conflict".
type foundCalls struct {
	mu   sync.Mutex
	text map[string]bool
}

// checkDeclared returns a log handler that passes all records to next. When the test ends, it
// fails the test if a call failed with a code that its operation does not declare. added are
// the operations that the test adds to those of the product.
func checkDeclared(t testing.TB, next slog.Handler, added []core.Operation) slog.Handler {
	found := &foundCalls{text: map[string]bool{}}
	t.Cleanup(func() {
		found.mu.Lock()
		defer found.mu.Unlock()
		for text := range found.text {
			t.Errorf("a call failed with a code that the operation does not declare: %s", text)
		}
	})
	declared := maps.Clone(productCodes())
	maps.Copy(declared, declaredCodes(added))
	return undeclared{next, declared, found}
}

// Enabled reports true for the level of calls, so that Handle receives them.
func (u undeclared) Enabled(ctx context.Context, level slog.Level) bool {
	return level >= slog.LevelInfo || u.Handler.Enabled(ctx, level)
}

// Handle checks the log line of a finished call.
func (u undeclared) Handle(ctx context.Context, r slog.Record) error {
	if r.Message == "call" {
		u.check(r)
	}
	if !u.Handler.Enabled(ctx, r.Level) {
		return nil
	}
	return u.Handler.Handle(ctx, r)
}

func (u undeclared) check(r slog.Record) {
	// There is no map of all attributes, because benchmarks count what a call allocates.
	var operation, surface, outcome string
	r.Attrs(func(a slog.Attr) bool {
		switch a.Key {
		case "operation":
			operation = a.Value.String()
		case "surface":
			surface = a.Value.String()
		case "outcome":
			outcome = a.Value.String()
		}
		return true
	})
	for _, one := range [][2]string{{"operation", operation}, {"surface", surface}, {"outcome", outcome}} {
		if one[1] == "" {
			u.report("the log line of a call has no " + one[0])
			return
		}
	}
	if surface == string(core.Dashboard) {
		return // the documentation names no codes for calls of pages
	}
	code := core.Code(outcome)
	if !slices.ContainsFunc(core.Codes(), func(info core.CodeInfo) bool { return info.Code == code }) {
		return // a success, or the caller is gone
	}
	if codes, known := u.declared[[2]string{operation, surface}]; !known || !slices.Contains(codes, code) {
		u.report(operation + " on " + surface + ": " + outcome)
	}
}

func (u undeclared) report(text string) {
	u.found.mu.Lock()
	defer u.found.mu.Unlock()
	u.found.text[text] = true
}

// WithAttrs keeps the check.
func (u undeclared) WithAttrs(attrs []slog.Attr) slog.Handler {
	return undeclared{u.Handler.WithAttrs(attrs), u.declared, u.found}
}

// WithGroup keeps the check.
func (u undeclared) WithGroup(name string) slog.Handler {
	return undeclared{u.Handler.WithGroup(name), u.declared, u.found}
}

// productCodes returns the codes that the operations of the product declare.
var productCodes = sync.OnceValue(func() map[[2]string][]core.Code {
	return declaredCodes(catalogue.Operations(catalogue.Domains{}))
})

// declaredCodes returns the codes that the documentation names for each operation and
// surface.
func declaredCodes(operations []core.Operation) map[[2]string][]core.Code {
	codes := map[[2]string][]core.Code{}
	for _, op := range operations {
		for _, surface := range []core.Surface{core.REST, core.Agent} {
			codes[[2]string{op.Info().Name, string(surface)}] = reference.Codes(op.Info(), surface)
		}
	}
	return codes
}

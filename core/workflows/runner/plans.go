package runner

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/predicate"
	"github.com/mailhelm/mailhelm/core/segments"
	"github.com/mailhelm/mailhelm/core/workflows"
	"github.com/mailhelm/mailhelm/core/workflows/engine"
	"github.com/mailhelm/mailhelm/core/workflows/language"
)

// planTime is how long a compiled version is used. A change of an attribute or a topic has its
// effect on runs after this time at the latest.
const planTime = 5 * time.Second

// maxPlans is the number of compiled versions that a process keeps.
const maxPlans = 1000

// planCache compiles versions of workflows and keeps them for a short time.
type planCache struct {
	schemas Schemas
	store   workflows.Store
	clock   core.Clock

	mu    sync.Mutex
	known map[planKey]cachedPlan
}

type planKey struct {
	orgID, workflowID string
	version           int
}

// plan is a version of a workflow in the form in which it runs, with what its conditions read.
type plan struct {
	*engine.Plan
	refs   predicate.References
	schema segments.Schema
}

type cachedPlan struct {
	plan plan
	at   time.Time
}

// errInvalid is the error of a version that does not compile.
var errInvalid = errors.New("the workflow does not compile")

// of returns a version. It fails with errInvalid if it does not compile any more.
func (c *planCache) of(ctx context.Context, orgID, workflowID string, version int) (plan, error) {
	key, now := planKey{orgID, workflowID, version}, c.clock()
	c.mu.Lock()
	cached, known := c.known[key]
	c.mu.Unlock()
	if known && now.Sub(cached.at) < planTime && !now.Before(cached.at) {
		return cached.plan, nil
	}
	compiled, err := c.compile(ctx, orgID, workflowID, version)
	if err != nil {
		return plan{}, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.known) >= maxPlans {
		clear(c.known)
	}
	c.known[key] = cachedPlan{compiled, now}
	return compiled, nil
}

func (c *planCache) compile(ctx context.Context, orgID, workflowID string, version int) (plan, error) {
	stored, err := c.store.Version(ctx, orgID, workflowID, version)
	if err != nil {
		return plan{}, err
	}
	names, err := c.schemas.WorkflowSchema(ctx, orgID)
	if err != nil {
		return plan{}, err
	}
	schema, err := c.schemas.PredicateSchema(ctx, orgID)
	if err != nil {
		return plan{}, err
	}
	names.Templates = nil // a template that is missing fails its message, not the run
	checked, err := language.Compile(stored.Source, names)
	if err != nil {
		return plan{}, errors.Join(errInvalid, err)
	}
	compiled := engine.Compile(checked)
	return plan{compiled, compiled.References(), schema}, nil
}

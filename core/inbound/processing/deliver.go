package processing

import (
	"context"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// delivery is a message that is ready to be delivered.
type delivery struct {
	task inbound.Task
	// copies has the message for each target, each with objects of its own.
	copies []copied
	// discard has the keys of the copies that no destination keeps. It is set by the commit.
	discard []string
}

// copied is the copy of a message for one target.
type copied struct {
	message inbound.Message
	routes  []inbound.Route
}

func (c copied) kind() inbound.Kind { return c.routes[0].Kind }

// byTarget groups the routes of a message by their targets, in the order of the targets' first
// recipients.
func byTarget(routes []inbound.Route) [][]inbound.Route {
	type target struct {
		kind inbound.Kind
		id   string
	}
	var targets []target
	grouped := map[target][]inbound.Route{}
	for _, r := range routes {
		of := target{r.Kind, r.TargetID}
		if grouped[of] == nil {
			targets = append(targets, of)
		}
		grouped[of] = append(grouped[of], r)
	}
	all := make([][]inbound.Route, len(targets))
	for i, of := range targets {
		all[i] = grouped[of]
	}
	return all
}

// commit delivers messages and ends their tasks in one transaction. The order of the targets is
// the same in all processes, so that they do not wait for each other in a circle.
func (p *Processor) commit(ctx context.Context, ready []*delivery) error {
	type step struct {
		of *delivery
		copied
	}
	var steps []step
	for _, d := range ready {
		for _, c := range d.copies {
			steps = append(steps, step{d, c})
		}
	}
	slices.SortStableFunc(steps, func(a, b step) int { return strings.Compare(a.routes[0].TargetID, b.routes[0].TargetID) })
	return p.cfg.Transactor.InTx(ctx, func(ctx context.Context) error {
		for _, d := range ready {
			d.discard = nil
		}
		for _, s := range steps {
			keep, err := p.cfg.Destinations[s.kind()].Deliver(ctx, s.message, s.routes)
			if err != nil {
				return err
			}
			if !keep {
				s.of.discard = append(s.of.discard, s.message.Keys()...)
			}
		}
		for _, d := range ready {
			if settled, err := p.cfg.Queue.Settle(ctx, d.task, d.discard); err != nil || !settled {
				return orClaimedAgain(err)
			}
		}
		return nil
	})
}

func orClaimedAgain(err error) error {
	if err == nil {
		return errClaimedAgain
	}
	return err
}

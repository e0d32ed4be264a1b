package processing

import (
	"context"
	"maps"
	"slices"
	"strings"

	"github.com/mailhelm/mailhelm/core/inbound"
)

// delivery is a message that is ready to be delivered.
type delivery struct {
	// task is that of the message. The commit sets its field Discard to the keys of the copies that
	// no destination keeps.
	task inbound.Task
	// copies has the message for each target, each with objects of its own.
	copies []inbound.Delivery
}

func kindOf(d inbound.Delivery) inbound.Kind { return d.Routes[0].Kind }

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

// batch has what is delivered to one destination in one transaction.
type batch struct {
	kind inbound.Kind
	all  []inbound.Delivery
	// of has the message of each delivery.
	of []*delivery
}

// batchesOf returns the copies of messages by their destinations. The order of the destinations is
// the same in all processes, so that they do not wait for each other in a circle.
func batchesOf(ready []*delivery) []*batch {
	byKind := map[inbound.Kind]*batch{}
	for _, d := range ready {
		for _, one := range d.copies {
			b := byKind[kindOf(one)]
			if b == nil {
				b = &batch{kind: kindOf(one)}
				byKind[b.kind] = b
			}
			b.all, b.of = append(b.all, one), append(b.of, d)
		}
	}
	return slices.SortedFunc(maps.Values(byKind), func(a, b *batch) int { return strings.Compare(string(a.kind), string(b.kind)) })
}

// commit delivers messages and ends their tasks in one transaction. The number of its calls does
// not grow with the number of messages.
func (p *Processor) commit(ctx context.Context, ready []*delivery) error {
	batches := batchesOf(ready)
	return p.cfg.Transactor.InTx(ctx, func(ctx context.Context) error {
		for _, d := range ready {
			d.task.Discard = nil // the transaction may run again
		}
		for _, b := range batches {
			kept, err := p.cfg.Destinations[b.kind].Deliver(ctx, b.all)
			if err != nil {
				return err
			}
			for i, d := range b.of {
				if !kept[i] {
					d.task.Discard = append(d.task.Discard, b.all[i].Message.Keys()...)
				}
			}
		}
		tasks := make([]inbound.Task, len(ready))
		for i, d := range ready {
			tasks[i] = d.task
		}
		again, err := p.cfg.Queue.Settle(ctx, tasks)
		if err == nil && len(again) > 0 {
			err = errClaimedAgain
		}
		return err
	})
}

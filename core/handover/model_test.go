package handover_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/mailhelm/mailhelm/core/handover"
)

// protocol has the functions that change a recipient. A test replaces one of them by a wrong
// one, to show that the explorer finds the fault.
type protocol struct {
	claim   func(handover.Recipient, string, time.Time) (handover.Recipient, bool)
	accept  func(handover.Recipient, int, string, time.Time) (handover.Recipient, bool)
	refuse  func(handover.Recipient, int, string, time.Time) (handover.Recipient, bool)
	release func(handover.Recipient, int, time.Time, time.Time) (handover.Recipient, bool)
	observe func(handover.Recipient, string, time.Time) (handover.Recipient, bool)
	giveUp  func(handover.Recipient, time.Time) (handover.Recipient, bool)
}

func productProtocol() protocol {
	return protocol{
		claim: handover.Recipient.Claim, accept: handover.Recipient.Accept, refuse: handover.Recipient.Refuse,
		release: handover.Recipient.Release, observe: handover.Recipient.Observe, giveUp: handover.Recipient.GiveUp,
	}
}

// step is what a worker does next.
type step int

const (
	idle    step = iota
	claimed      // has committed its claim, has not called the account
	accepted
	refused
	throttled
	unknown // got no answer
)

// worker is a process that passes the message. A pause is a worker that does nothing while
// others move; a crash forgets its step.
type worker struct {
	step    step
	attempt int
}

// world is a state of the model: one recipient, two workers, and what the account has done.
// It is comparable, so that each state is explored once.
type world struct {
	row     handover.Recipient
	workers [2]worker
	// mails is the number of messages that the account accepted, the mails that the person
	// gets.
	mails int
	// events is the number of messages whose event has not arrived. The event of a message
	// may arrive at any time later.
	events int
}

const (
	maxAttempts = 3
	maxMails    = 2
)

var (
	start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	late  = start.Add(handover.Patience)
)

// move is a change of the world with its name.
type move struct {
	name string
	to   world
}

// explorer visits every reachable world once.
type explorer struct {
	protocol
	// parent has, for each visited world, the world and the move that led to it.
	parent map[world]move
	faults []string
}

// explore visits all worlds and returns the faults, each with the moves that lead to it.
func explore(p protocol) (faults []string, visited int) {
	x := &explorer{protocol: p, parent: map[world]move{}}
	first := world{row: handover.Recipient{SendID: "send", Key: "contact", State: handover.Pending}}
	x.parent[first] = move{}
	for queue := []world{first}; len(queue) > 0 && len(x.faults) < 5; queue = queue[1:] {
		w := queue[0]
		moves := x.moves(w)
		x.check(w, moves)
		for _, m := range moves {
			if _, seen := x.parent[m.to]; !seen {
				x.parent[m.to] = move{m.name, w}
				queue = append(queue, m.to)
			}
		}
	}
	return x.faults, len(x.parent)
}

// check notes a fault of a world.
func (x *explorer) check(w world, moves []move) {
	switch {
	case w.mails > 1:
		x.fault(w, "the person got two mails")
	case len(moves) == 0 && !w.row.State.IsOutcome():
		x.fault(w, "the recipient has no outcome, and nothing can happen")
	case len(moves) == 0 && w.mails == 1 && w.row.State != handover.Sent:
		x.fault(w, "the person got a mail, and the recipient is "+string(w.row.State))
	case w.mails == 0 && w.row.State == handover.Sent:
		x.fault(w, "the recipient is sent, and the person got no mail")
	case w.row.State == handover.Failed && w.row.Reason != handover.OutcomeUnknown && w.mails > 0:
		x.fault(w, "the recipient failed for a known reason, and the person got a mail")
	}
}

func (x *explorer) fault(w world, text string) {
	var path []string
	for m := x.parent[w]; m.name != ""; m = x.parent[m.to] {
		path = append([]string{m.name}, path...)
	}
	x.faults = append(x.faults, text+": "+strings.Join(path, ", "))
}

// moves returns all moves from a world.
func (x *explorer) moves(w world) []move {
	var all []move
	for i := range w.workers {
		for _, m := range x.workerMoves(w, i) {
			all = append(all, move{fmt.Sprintf("worker %d %s", i, m.name), m.to})
		}
	}
	if w.events > 0 {
		next := w
		next.events--
		if row, ok := x.observe(w.row, "message", start); ok {
			next.row = row
		}
		all = append(all, move{"the event arrives", next})
	}
	// giving up is possible at any time, as if the clocks of processes differed
	if row, ok := x.giveUp(w.row, late); ok {
		next := w
		row.At = start
		next.row = row
		all = append(all, move{"the attempt is given up", next})
	}
	return all
}

// workerMoves returns what worker i can do.
func (x *explorer) workerMoves(w world, i int) []move {
	var all []move
	add := func(name string, change func(*world)) {
		next := w
		change(&next)
		all = append(all, move{name, next})
	}
	me := w.workers[i]
	switch me.step {
	case idle:
		if row, ok := x.claim(w.row, fmt.Sprint("process ", i), start); ok && row.Attempt <= maxAttempts {
			add("claims", func(n *world) { n.row, n.workers[i] = row, worker{claimed, row.Attempt} })
			add("claims, and loses the connection", func(n *world) { n.row = row })
		}
		return all
	case claimed:
		if w.mails < maxMails {
			add("is accepted", func(n *world) { n.mails++; n.events++; n.workers[i].step = accepted })
			add("is accepted, and gets no answer", func(n *world) { n.mails++; n.events++; n.workers[i].step = unknown })
		}
		add("is refused", func(n *world) { n.workers[i].step = refused })
		if me.attempt < maxAttempts { // the account is not throttled forever
			add("is throttled", func(n *world) { n.workers[i].step = throttled })
		}
		add("reaches nothing, and gets no answer", func(n *world) { n.workers[i].step = unknown })
	default:
		add("stores the answer", func(n *world) {
			n.row = x.stored(w.row, me)
			n.workers[i] = worker{}
		})
		add("stores the answer, loses the connection and will repeat it", func(n *world) { n.row = x.stored(w.row, me) })
	}
	add("crashes", func(n *world) { n.workers[i] = worker{} })
	return all
}

// stored returns the row after a worker has stored the answer of the account.
func (x *explorer) stored(row handover.Recipient, w worker) handover.Recipient {
	var next handover.Recipient
	ok := false
	switch w.step {
	case accepted:
		next, ok = x.accept(row, w.attempt, "message", start)
	case refused:
		next, ok = x.refuse(row, w.attempt, "refused", start)
	case throttled:
		next, ok = x.release(row, w.attempt, start, start)
	}
	if !ok {
		return row
	}
	return next
}

// TestNobodyIsMailedTwiceOrLost explores all orders of what two workers, the account and the
// events about one recipient can do.
func TestNobodyIsMailedTwiceOrLost(t *testing.T) {
	t.Parallel()
	faults, visited := explore(productProtocol())
	for _, fault := range faults {
		t.Error(fault)
	}
	if visited < 250 {
		t.Errorf("only %d worlds were visited", visited)
	}
}

// TestExplorerFindsFaults checks that the explorer finds the faults of wrong protocols.
func TestExplorerFindsFaults(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		change func(*protocol)
		want   string
	}{
		"an unknown outcome is repeated": {func(p *protocol) {
			p.giveUp = func(r handover.Recipient, now time.Time) (handover.Recipient, bool) {
				r, ok := r.GiveUp(now)
				if ok {
					r.State, r.Reason = handover.Pending, ""
				}
				return r, ok
			}
		}, "two mails"},
		"a late answer of an older attempt counts": {func(p *protocol) {
			p.release = func(r handover.Recipient, _ int, notBefore, now time.Time) (handover.Recipient, bool) {
				return r.Release(r.Attempt, notBefore, now)
			}
		}, "two mails"},
		"what is being handed over is claimed again": {func(p *protocol) {
			p.claim = func(r handover.Recipient, process string, now time.Time) (handover.Recipient, bool) {
				if r.State == handover.HandingOver {
					r.State = handover.Pending
				}
				return r.Claim(process, now)
			}
		}, "two mails"},
		"nothing is given up": {func(p *protocol) {
			p.giveUp = func(r handover.Recipient, _ time.Time) (handover.Recipient, bool) { return r, false }
		}, "no outcome"},
		"events are not observed": {func(p *protocol) {
			p.observe = func(r handover.Recipient, _ string, _ time.Time) (handover.Recipient, bool) { return r, false }
		}, "and the recipient is failed"},
		"giving up is final": {func(p *protocol) {
			p.observe = func(r handover.Recipient, id string, now time.Time) (handover.Recipient, bool) {
				if r.State.IsOutcome() {
					return r, false
				}
				return r.Observe(id, now)
			}
			p.accept = func(r handover.Recipient, attempt int, id string, now time.Time) (handover.Recipient, bool) {
				if r.State.IsOutcome() {
					return r, false
				}
				return r.Accept(attempt, id, now)
			}
		}, "and the recipient is failed"},
	} {
		p := productProtocol()
		c.change(&p)
		faults, _ := explore(p)
		if len(faults) == 0 || !strings.Contains(strings.Join(faults, "\n"), c.want) {
			t.Errorf("%s: found %q, want %q", name, faults, c.want)
		}
	}
}

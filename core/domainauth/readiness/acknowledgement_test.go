package readiness_test

import (
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core/domainauth/figures"
	"github.com/mailhelm/mailhelm/core/domainauth/readiness"
	"github.com/mailhelm/mailhelm/core/mailauth/dmarc"
)

// forwarded returns the figures of a domain that waits for an acknowledgement: a relay broke
// 60 messages.
func forwarded(t testing.TB, record string) readiness.Figures {
	t.Helper()
	f := complete(t, record)
	f.Sources = append(f.Sources, source("list", figures.Confirmed, figures.Forwarder))
	f.Rows = append(f.Rows, relayBroken(3, "list", 60), failing(4, "shop", 20))
	return f
}

// acknowledged returns the acknowledgement of the next rung, given now.
func acknowledged(t testing.TB, f readiness.Figures) *readiness.Acknowledgement {
	t.Helper()
	a := readiness.Assess(f)
	ack, err := a.Acknowledge(a.Target, now)
	if err != nil {
		t.Fatal(err)
	}
	return &ack
}

func TestAcknowledgementReleasesTheRecord(t *testing.T) {
	t.Parallel()
	f := forwarded(t, atNone)
	a := readiness.Assess(f)
	if a.Ready || !a.PendingAcknowledgement || a.Record != "" || a.Changes != nil || a.Acknowledgement != nil {
		t.Fatalf("before: %+v", a)
	}
	f.Acknowledgement = acknowledged(t, f)
	a = readiness.Assess(f)
	if !a.Ready || a.PendingAcknowledgement || a.Record == "" || a.Changes == nil || a.Acknowledgement == nil {
		t.Fatalf("after: %+v", a)
	}
}

// TestAcknowledgementIsFrozen checks the figures of an acknowledgement, that later
// measurements do not change them, and that it stays valid when the cost grows.
func TestAcknowledgementIsFrozen(t *testing.T) {
	t.Parallel()
	f := forwarded(t, atNone)
	a := readiness.Assess(f)
	ack, err := a.Acknowledge(dmarc.Quarantine, now)
	if err != nil {
		t.Fatal(err)
	}
	list := readiness.SourceImpact{Source: figures.Source{ID: "list", Decision: figures.Confirmed, Classification: figures.Forwarder}, Failing: 60, RelayBroken: 60, Share: figures.Ratio{Part: 60, Whole: 80}}
	want := readiness.Acknowledgement{At: now, Current: dmarc.None, Target: dmarc.Quarantine, Frozen: readiness.Cost{
		From: daysAgo(30), To: daysAgo(0), Messages: 60, PerDay: figures.Ratio{Part: 60, Whole: 30}, Sources: []readiness.SourceImpact{list},
	}}
	if d := cmp.Diff(want, ack); d != "" {
		t.Fatal(d)
	}
	for i := range a.Impact.Sources {
		a.Impact.Sources[i].Failing = 1
	}
	f.Acknowledgement = &ack
	f.Now = now.AddDate(0, 0, 5)
	f.Rows = append(f.Rows, relayBroken(1, "list", 100_000))
	if a := readiness.Assess(f); !a.Ready || cmp.Diff(want, *a.Acknowledgement) != "" {
		t.Errorf("later: ready %t, %s", a.Ready, cmp.Diff(want, *a.Acknowledgement))
	}
}

func TestAcknowledgementIsForOneStep(t *testing.T) {
	t.Parallel()
	for _, tc := range []struct {
		rule, record string
		change       func(*readiness.Figures)
		valid        bool
	}{
		{"the same step", atNone, func(*readiness.Figures) {}, true},
		{"the next rung needs another", atQuarantine, func(*readiness.Figures) {}, false},
		{"another step to the same target needs another", "v=DMARC1; p=quarantine; sp=none; t=y", func(f *readiness.Figures) { f.Acknowledgement.Current = dmarc.Quarantine }, false},
		{"a step to another target needs another", "v=DMARC1; p=reject; sp=none", func(*readiness.Figures) {}, false},
		{"the policy was published at the moment of the acknowledgement", atNone, func(f *readiness.Figures) { f.PolicySince = now }, true},
		{"the policy went back after the acknowledgement", atNone, func(f *readiness.Figures) { f.PolicySince = now.Add(1) }, false},
		{"it is not known since when the policy is published", atNone, func(f *readiness.Figures) { f.PolicySince = time.Time{} }, true},
	} {
		ack := acknowledged(t, forwarded(t, atNone))
		f := forwarded(t, tc.record)
		f.Acknowledgement = ack
		tc.change(&f)
		a := readiness.Assess(f)
		if a.Ready != tc.valid || a.PendingAcknowledgement == tc.valid || (a.Acknowledgement != nil) != tc.valid {
			t.Errorf("%s: ready %t, pending %t, unmet %s", tc.rule, a.Ready, a.PendingAcknowledgement, unmet(a))
		}
	}
}

func TestNothingToAcknowledge(t *testing.T) {
	t.Parallel()
	for rule, f := range map[string]readiness.Figures{
		"no relay broke a message": complete(t, atNone),
		"no policy yet":            forwarded(t, ""),
		"the last rung":            forwarded(t, atReject),
		"a criterion is not met": func() readiness.Figures {
			f := forwarded(t, atNone)
			onlyDays(&f, firstDays(13)...)
			return f
		}(),
		"acknowledged already": func() readiness.Figures {
			f := forwarded(t, atNone)
			f.Acknowledgement = acknowledged(t, f)
			return f
		}(),
	} {
		a := readiness.Assess(f)
		for _, target := range []dmarc.Policy{a.Target, dmarc.Quarantine, dmarc.Reject} {
			if _, err := a.Acknowledge(target, now); !errors.Is(err, readiness.ErrNothingToAcknowledge) {
				t.Errorf("%s: acknowledging %q: error %v", rule, target, err)
			}
		}
	}
	pending := readiness.Assess(forwarded(t, atNone))
	for _, target := range []dmarc.Policy{"", dmarc.None, dmarc.Reject} {
		if _, err := pending.Acknowledge(target, now); !errors.Is(err, readiness.ErrOtherTarget) {
			t.Errorf("acknowledging %q: error %v", target, err)
		}
	}
}

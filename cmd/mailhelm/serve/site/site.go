// Package site assembles the parts of a server that take beacons of websites, and satisfies
// the interfaces that these parts declare.
package site

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/activities"
	"github.com/mailhelm/mailhelm/core/site"
	"github.com/mailhelm/mailhelm/core/visitorids"
	"github.com/mailhelm/mailhelm/rest/beacon"
	"github.com/prometheus/client_golang/prometheus"
)

// Needs are what the parts need of the rest of the server. All fields are required.
type Needs struct {
	Config     config.Config
	Store      site.Store
	Visitors   visitorids.Store
	Activities *activities.Activities
	Transactor core.Transactor
	Metrics    prometheus.Registerer
}

// Parts are the parts of a server that take beacons. Open returns them.
type Parts struct {
	// Settings changes site keys.
	Settings site.Settings
	// Keys are the site keys in memory. They are reloaded after a change.
	Keys   *site.Keys
	intake *site.Intake
	cfg    config.Config
}

// Open reads the site keys and returns the parts. Call it once for each server, because it
// registers metrics.
func Open(ctx context.Context, n Needs) (*Parts, error) {
	p := &Parts{Settings: site.Settings{Store: n.Store, Clock: n.Config.Clock}, Keys: site.NewKeys(n.Store, n.Config.Clock), cfg: n.Config}
	if err := p.Keys.Reload(ctx); err != nil {
		return nil, fmt.Errorf("site keys: %w", err)
	}
	outcomes := prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "mailhelm_beacons_total",
		Help: "Beacons of websites by outcome. accepted ones end as written, duplicate, unknown_visitor or failed.",
	}, []string{"outcome"})
	for _, o := range site.Outcomes() {
		outcomes.WithLabelValues(string(o))
	}
	p.intake = site.NewIntake(site.Config{
		Store: n.Store, Keys: p.Keys, Visitors: n.Visitors, Activities: recorder{n.Activities, n.Transactor}, Clock: n.Config.Clock, Log: n.Config.Log,
		Observe: func(o site.Outcome, count int) { outcomes.WithLabelValues(string(o)).Add(float64(count)) },
	})
	n.Metrics.MustRegister(outcomes, prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "mailhelm_beacon_queue", Help: "Beacons of websites that wait to be written.",
	}, func() float64 { return float64(p.intake.Queued()) }))
	return p, nil
}

// Route returns a handler that answers below beacon.Path and passes other requests to next.
func (p *Parts) Route(next http.Handler) (http.Handler, error) {
	trusted, err := p.cfg.Proxies()
	if err != nil {
		return nil, err
	}
	own, err := beacon.New(beacon.Config{Accept: p.intake.Accept, Remote: trusted.Remote})
	if err != nil {
		return nil, err
	}
	// A ServeMux would redirect other paths to their shortest form.
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, beacon.Path+"/") {
			own.ServeHTTP(w, r)
			return
		}
		next.ServeHTTP(w, r)
	}), nil
}

// Follow starts writing beacons and reloading keys. The returned function stops both; it
// writes the queue first, for at most ten seconds. Call it when no request is being answered.
func (p *Parts) Follow() func() {
	ctx, cancel := context.WithCancel(context.Background())
	writing, reloading := time.NewTicker(site.WriteEvery), time.NewTicker(site.ReloadEvery)
	var running sync.WaitGroup
	running.Go(func() { p.intake.Follow(ctx, writing.C) })
	running.Go(func() { p.Keys.Follow(ctx, reloading.C, p.cfg.Log) })
	return func() {
		cancel()
		running.Wait()
		writing.Stop()
		reloading.Stop()
	}
}

// Changed makes this process apply a change of site keys at once. It logs an error, because
// the keys are also reloaded regularly.
func (p *Parts) Changed(ctx context.Context) {
	if err := p.Keys.Reload(ctx); err != nil {
		p.cfg.Log.WarnContext(ctx, "site keys not reloaded", slog.Any("cause", err))
	}
}

// recorder stores visits; it is a [site.Activities].
type recorder struct {
	activities *activities.Activities
	transactor core.Transactor
}

// RecordVisits stores visits in one transaction.
func (r recorder) RecordVisits(ctx context.Context, orgID string, visits []site.Visit) (int, error) {
	observed := make([]activities.Observed, len(visits))
	for i, v := range visits {
		observed[i] = activities.Observed(v)
	}
	duplicates := 0
	err := r.transactor.InTx(ctx, func(ctx context.Context) error {
		var err error
		duplicates, err = r.activities.RecordObserved(ctx, orgID, observed)
		return err
	})
	return duplicates, err
}

// Package doctor is `mailhelm doctor`: it examines whether a server would work with a
// configuration, and what to do if not. It changes nothing: it makes no file, runs no
// migration and creates no key.
//
// Each file examines one part. What a server needs is in packages config and serve.
package doctor

import (
	"context"
	"fmt"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/config"
	"github.com/mailhelm/mailhelm/core"
)

// Status is the outcome of a check.
type Status string

// The outcomes. With a Fail a server does not start or is not safe. With a Warn it
// works, but something needs attention.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is the result for one part.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	// Next is the next step; empty if none is needed.
	Next string `json:"next,omitempty"`
}

// Report holds all checks and the worst outcome.
type Report struct {
	Status Status  `json:"status"`
	Checks []Check `json:"checks"`
}

// checkTimeout limits each check that contacts another program.
const checkTimeout = 10 * time.Second

// Examine runs all checks on a configuration. file is the configuration file, "" for
// none. It returns the checks in the order in which they ran. It allows ten seconds
// each for the database, Redis, mail and the ports.
func Examine(ctx context.Context, cfg config.Config, file string) Report {
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	e := &examination{cfg: cfg, report: Report{Status: OK}}
	e.settings()
	e.configurationFile(file)
	e.publicURLs()
	e.dataFolder()
	for _, examine := range []func(context.Context){e.database, e.redis, e.mail, e.ports} {
		bounded, cancel := context.WithTimeout(ctx, checkTimeout)
		examine(bounded)
		cancel()
	}
	return e.report
}

// examination is one run of all checks. Each check adds its result to the report.
type examination struct {
	cfg    config.Config
	report Report
}

// add appends a result and raises the status of the report if this one is worse. next
// is the next step for the operator, "" for none.
func (e *examination) add(name string, status Status, detail, next string) {
	e.report.Checks = append(e.report.Checks, Check{Name: name, Status: status, Detail: detail, Next: next})
	if status == Fail || status == Warn && e.report.Status == OK {
		e.report.Status = status
	}
}

// settings checks the form of the settings, as a server does at start.
func (e *examination) settings() {
	if err := e.cfg.Check(); err != nil {
		e.add("settings", Fail, err.Error(), "Correct it where 'mailhelm config' says the value comes from.")
		return
	}
	e.add("settings", OK, fmt.Sprintf("role %s", e.cfg.Role), "")
}

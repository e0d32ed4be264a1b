// Package doctor is `mailhelm doctor`: it examines whether a server would work with a
// configuration, and proposes what to do if not. It leaves no file behind, runs no
// migration and creates no key.
//
// Each file examines one part, such as the database or the mail server. Packages config and
// serve define what a server needs.
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

// The outcomes of a check. Fail means that a server does not start or is not safe. Warn
// means that a server works, but something needs attention.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
)

// Check is the result of one check, such as that of the database.
type Check struct {
	Name   string `json:"name"`
	Status Status `json:"status"`
	Detail string `json:"detail"`
	// Next is the step that the operator should take; empty if none is needed.
	Next string `json:"next,omitempty"`
}

// Report holds the results of all checks. Status is the worst of their outcomes.
type Report struct {
	Status Status  `json:"status"`
	Checks []Check `json:"checks"`
}

// checkTimeout limits the duration of each check that uses a network connection.
const checkTimeout = 10 * time.Second

// Examine runs all checks on a configuration and returns their results in the order in
// which they ran. file is the path of the configuration file, "" for none. The checks of
// the database, Redis, the mail server, the scanners, the app on GitHub, the ports and the public names may take ten
// seconds each.
func Examine(ctx context.Context, cfg config.Config, file string) Report {
	if cfg.Clock == nil {
		cfg.Clock = core.SystemClock
	}
	e := &examination{cfg: cfg, report: Report{Status: OK}}
	e.settings()
	e.configurationFile(file)
	e.publicURLs()
	e.dataFolder()
	e.receiving()
	e.certificate()
	for _, examine := range []func(context.Context){e.database, e.redis, e.mail, e.scanners, e.gitHubApp, e.ports, e.reach} {
		bounded, cancel := context.WithTimeout(ctx, checkTimeout)
		examine(bounded)
		cancel()
	}
	return e.report
}

// examination is one run of all checks. Each check adds its result to the field report.
//
// It has many methods because each examines one part of a server, and all add to one report.
type examination struct {
	cfg    config.Config
	report Report
}

// add appends the result of a check to the report. If status, the status of the check, is
// worse than the report's status, it replaces the report's status. next is the step that
// the operator should take, "" for none.
func (e *examination) add(name string, status Status, detail, next string) {
	e.report.Checks = append(e.report.Checks, Check{Name: name, Status: status, Detail: detail, Next: next})
	if status == Fail || status == Warn && e.report.Status == OK {
		e.report.Status = status
	}
}

// settings checks the values of the settings with [config.Config.Check], as a server does
// when it starts.
func (e *examination) settings() {
	if err := e.cfg.Check(); err != nil {
		e.add("settings", Fail, err.Error(), "Correct it where 'mailhelm config' says the value comes from.")
		return
	}
	e.add("settings", OK, fmt.Sprintf("role %s", e.cfg.Role), "")
}

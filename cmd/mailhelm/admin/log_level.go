package admin

import (
	"context"
	"errors"
	"strings"
	"time"

	"github.com/mailhelm/mailhelm/cmd/mailhelm/cli"
	"github.com/mailhelm/mailhelm/cmd/mailhelm/installation"
	facts "github.com/mailhelm/mailhelm/core/installation"
)

// ownLevel is the argument that removes the stored level.
const ownLevel = "default"

// LogLevelCommand is `mailhelm admin log-level`. It shows or changes the log level of all
// processes that run on the database.
type LogLevelCommand struct {
	installation.Target
	Level string        `arg:"" optional:"" help:"debug, info, warn, error, or default for the --log-level of each process. Without it the level is shown." enum:"debug,info,warn,error,default," default:""`
	For   time.Duration `help:"Time after which each process returns to its --log-level, such as 30m. Default: the level stays." placeholder:"DURATION"`
}

// Help returns the text that --help shows below the summary.
func (LogLevelCommand) Help() string {
	return `Changes the level without a restart: every process applies it within two seconds, also one that starts later. The level debug writes a line for every call.

Examples:

    mailhelm admin log-level
    mailhelm admin log-level debug --for 30m
    mailhelm admin log-level default`
}

// logLevelJSON is the form in which --json prints the level. Level is null if each process has
// its own.
type logLevelJSON struct {
	Level *string    `json:"level"`
	Until *time.Time `json:"until"`
}

// Run changes the level if one is given, and prints the level that applies.
func (c *LogLevelCommand) Run(p *cli.Program) error {
	if c.For < 0 || c.For > 0 && (c.Level == "" || c.Level == ownLevel) {
		return errors.New("--for " + c.For.String() + " needs a level and a duration above 0. Write, for example: mailhelm admin log-level debug --for 30m")
	}
	return c.With(p, func(ctx context.Context, s *installation.Session) error {
		store, now := s.DB.Installation(), s.Config.Clock()
		if c.Level != "" {
			value, err := c.value(now)
			if err != nil {
				return err
			}
			if err := store.SetFact(ctx, facts.LogLevelFact, value, now); err != nil {
				return err
			}
		}
		value, err := store.Fact(ctx, facts.LogLevelFact)
		if err != nil {
			return err
		}
		stored, err := facts.ParseLogLevel(value)
		if err != nil {
			return err
		}
		return printLogLevel(s, stored, now)
	})
}

// value returns the value to store for the flags.
func (c *LogLevelCommand) value(now time.Time) (string, error) {
	if c.Level == ownLevel {
		return "", nil
	}
	var l facts.LogLevel
	if err := l.Level.UnmarshalText([]byte(c.Level)); err != nil {
		return "", err
	}
	if c.For > 0 {
		until := now.Add(c.For)
		l.Until = &until
	}
	return l.Value(), nil
}

func printLogLevel(s *installation.Session, stored *facts.LogLevel, now time.Time) error {
	shown, words, until := logLevelJSON{}, "the --log-level of each process", ""
	if stored.Applies(now) {
		words = strings.ToLower(stored.Level.String())
		shown, until = logLevelJSON{&words, stored.Until}, installation.Instant(stored.Until)
	}
	if s.JSON {
		return s.PrintJSON(shown)
	}
	return s.PrintTable("", [][]string{{"level", words}, {"until", until}})
}

package main

import (
	"strings"
	"testing"
)

// TestAdminLogLevel checks that the level is shown, stored with and without an end, and removed.
func TestAdminLogLevel(t *testing.T) {
	t.Parallel()
	s := migrated(t)
	if out := s.mustRun("log-level"); !strings.Contains(out, "the --log-level of each process") {
		t.Error(out)
	}
	if got := s.does("log-level"); got["level"] != nil || got["until"] != nil {
		t.Errorf("at first %v", got)
	}
	if got := s.does("log-level", "debug", "--for", "30m"); got["level"] != "debug" || got["until"] == nil {
		t.Errorf("for half an hour %v", got)
	}
	if got := s.does("log-level"); got["level"] != "debug" {
		t.Errorf("shown %v", got)
	}
	if got := s.does("log-level", "error"); got["level"] != "error" || got["until"] != nil {
		t.Errorf("without an end %v", got)
	}
	if got := s.does("log-level", "default"); got["level"] != nil {
		t.Errorf("removed %v", got)
	}
	s.refuses("needs a level", "log-level", "--for", "30m")
	s.refuses("needs a level", "log-level", "default", "--for", "30m")
	s.refuses("needs a level", "log-level", "debug", "--for=-1s")
	s.refuses("must be one of", "log-level", "loud")
}

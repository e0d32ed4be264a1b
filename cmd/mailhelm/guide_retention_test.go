package main

import (
	"testing"

	"github.com/mailhelm/mailhelm/storage/engine/enginetest"
)

// TestGuideOfRetention runs the commands of the guide in their order.
func TestGuideOfRetention(t *testing.T) {
	t.Parallel()
	enginetest.EachEngine(t, func(t *testing.T, postgres bool) {
		s := newShell(t, postgres).migrate()
		s.mustRun("org", "create", "acme")
		g := openGuide(t, "retention.md")
		g.where = s.where
		g.run("archived_contacts")
		g.run("730")
		g.run("membership_log")
		g.run("365")
		g.end()
	})
}

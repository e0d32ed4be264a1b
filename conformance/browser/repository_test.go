package browser_test

import (
	"fmt"
	"net/http"
	"slices"
	"time"

	"github.com/mailhelm/mailhelm/conformance/product"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/git"
	"github.com/mailhelm/mailhelm/core/git/gittest"
)

// addRepository connects a repository below a folder, so that the page about it has all of its parts: a
// definition with an error, an adopted one, and proposals. The demo has no repository, because all
// definitions of an organization with one come from files, and the guides change those of the demo.
func (s *scene) addRepository(folder string) {
	s.t.Helper()
	ctx, settings := s.t.Context(), s.p.Repository.Settings
	repo := gittest.New(s.t, folder)
	repo.Commit(map[string]string{
		"email/mailhelm.json": `{
  "segments": {
    "regulars-of-the-roastery": {"path": "audience/regulars.predicate", "name": "Regulars of the roastery"},
    "app-testers": {"path": "audience/testers.predicate", "name": "App testers"},
    "lapsed": {"path": "audience/lapsed.predicate", "name": "Lapsed"}
  },
  "images": ["static/missing.png"]
}
`,
		"email/audience/regulars.predicate": "attr.orders >= 10\n", "email/audience/testers.predicate": "attr.orders >= 3\n",
		"email/audience/lapsed.predicate": "attr.orders >= 1\n  and attr.no_such_attribute_of_the_organization = \"yes\"\n",
	})
	if _, err := settings.Connect(ctx, git.Connection{OrgID: s.p.OrgID, Kind: git.Local, Location: repo.Bare, PathPrefix: "email"}); err != nil {
		s.t.Fatal(err)
	}
	s.awaitSync(2, 0)
	adopted := definitions.Ref{Kind: definitions.KindSegment, Key: "app-testers"}
	product.Await(s.t, time.Minute, func() error { return settings.Adopt(ctx, s.p.OrgID, adopted) })
	for _, key := range []string{"spring-blend", "roasting-notes"} {
		d := core.RepositoryDefinition{Kind: "segment", Key: key, Source: `attr.orders >= 2`, Name: key}
		if _, err := s.p.Repository.Proposals.Promote(ctx, s.p.OrgID, d); err != nil {
			s.t.Fatal(err)
		}
	}
	all, err := settings.Store.Proposals(ctx, s.p.OrgID, 1)
	if err != nil || len(all) != 1 {
		s.t.Fatalf("%v, proposals %v", err, all)
	}
	repo.InBare("update-ref", "-d", "refs/heads/"+all[0].Branch)
	if err := settings.RequestSync(ctx, s.p.OrgID); err != nil {
		s.t.Fatal(err)
	}
	s.awaitSync(3, 1)
}

// awaitSync waits until a sync has numbers of diagnostics and of open proposals.
func (s *scene) awaitSync(diagnostics, open int) {
	s.t.Helper()
	product.Await(s.t, time.Minute, func() error {
		c, _, err := s.p.Repository.Settings.Of(s.t.Context(), s.p.OrgID)
		if err != nil {
			return err
		}
		all, err := s.p.Repository.Settings.Store.Proposals(s.t.Context(), s.p.OrgID, open+1)
		awaiting := slices.DeleteFunc(all, func(p git.Proposal) bool { return p.State != git.Open })
		if err == nil && (c.State != git.Synced || len(c.Diagnostics) != diagnostics || len(awaiting) != open) {
			err = fmt.Errorf("%s with %v and %v: %s", c.State, c.Diagnostics, all, c.Failure)
		}
		return err
	})
}

// visitRepository opens the page about a connected repository, checks it and stores pictures of it. It
// returns the number of violations.
func (c *crawl) visitRepository(folder string) int {
	c.t.Helper()
	c.addRepository(folder)
	c.tab.Go(c.p.AppURL + "/dashboard/git")
	c.tab.Expect(http.StatusOK, "synced", "no_such_attribute", "error", "Return", "Adopt definition", "awaits review")
	c.tab.Picture("page-git-connected")
	violations := c.tab.Accessible("#side")
	c.tab.Submit("form[action$='/git/return'] button")
	c.tab.Expect(http.StatusOK, "The definition is returned")
	return violations
}

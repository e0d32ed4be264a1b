package sending

import (
	"strings"
	"testing"

	port "github.com/mailhelm/mailhelm/core/sending"
)

// productionRequest returns a valid request.
func productionRequest() port.ProductionRequest {
	return port.ProductionRequest{
		MailType: port.Promotional, Website: "https://example.com",
		UseCase: "A newsletter, once a month, to people who asked for it on our site.",
	}
}

// domainsHaveTokens checks that a sender identity has DKIM tokens if it is a domain, and
// none if it is an email address.
func domainsHaveTokens(t *testing.T, s Subject) {
	setup := people()
	setup.Identities = []port.Identity{
		{Identity: "example.com", Verification: port.Success}, {Identity: "ada@example.org", Verification: port.Pending},
	}
	s.Seed(t, "org", setup)
	all, err := s.Account.Identities(t.Context(), "org")
	if err != nil || len(all) != 2 {
		t.Fatalf("identities %v, %v", all, err)
	}
	for _, one := range all {
		if domain := !strings.Contains(one.Identity, "@"); domain != (len(one.DKIMTokens) > 0) {
			t.Errorf("%s has the tokens %v", one.Identity, one.DKIMTokens)
		}
	}
}

// productionAccessIsAskedForOnce sends invalid requests for production access and two valid
// ones. The first valid request must start a review; all others must fail with Invalid.
func productionAccessIsAskedForOnce(t *testing.T, s Subject) {
	setup := people()
	setup.Overview.Sandbox = true
	s.Seed(t, "org", setup)
	for name, spoil := range map[string]func(*port.ProductionRequest){
		"a mail type that is none": func(r *port.ProductionRequest) { r.MailType = "SPAM" },
		"no website":               func(r *port.ProductionRequest) { r.Website = "" },
		"a website that is none":   func(r *port.ProductionRequest) { r.Website = "javascript:alert(1)" },
		"no use case":              func(r *port.ProductionRequest) { r.UseCase = "" },
	} {
		bad := productionRequest()
		spoil(&bad)
		WantKind(t, name, s.Account.RequestProductionAccess(t.Context(), "org", bad), port.Invalid)
	}
	wantReview(t, s, port.NoReview)
	if err := s.Account.RequestProductionAccess(t.Context(), "org", productionRequest()); err != nil {
		t.Fatal(err)
	}
	wantReview(t, s, port.ReviewPending)
	WantKind(t, "asking again", s.Account.RequestProductionAccess(t.Context(), "org", productionRequest()), port.Invalid)
	wantReview(t, s, port.ReviewPending)
}

// wantReview checks the state of the request for production access (Review) that Overview
// reports for the organization "org".
func wantReview(t *testing.T, s Subject, want port.Review) {
	t.Helper()
	if o, err := s.Account.Overview(t.Context(), "org"); err != nil || o.Review != want {
		t.Errorf("the review is %q, %v, want %q", o.Review, err, want)
	}
}

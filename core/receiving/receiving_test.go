package receiving_test

import (
	"encoding/json"
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/receiving"
	"github.com/mailhelm/mailhelm/core/receiving/receivingtest"
	"github.com/mailhelm/mailhelm/core/standardhooks"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestDomain(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		made := w.Want(t, "inbound_domains_create", `{"domain":" IN.Example.com. "}`)
		id := made["id"].(string)
		want := map[string]any{
			"id": id, "domain": "in.example.com", "status": "pending_dns", "last_error": nil, "region": nil, "cross_region": false, "webhook": nil,
			"records":    []any{map[string]any{"type": "MX", "name": "in.example.com", "value": "10 mx.mailhelm.test", "verified": false}},
			"created_at": "2026-03-01T12:00:00Z",
		}
		if diff := cmp.Diff(want, made); diff != "" {
			t.Error(diff)
		}
		for _, named := range []string{"in.example.com", "IN.example.com", id, strings.ToUpper(id)} {
			if got := w.Want(t, "inbound_domains_get", `{"domain":"`+named+`"}`); got["id"] != id {
				t.Errorf("%s: %v", named, got)
			}
		}
		if all := w.Want(t, "inbound_domains_list", `{}`)["data"].([]any); len(all) != 1 {
			t.Errorf("%v", all)
		}
		_ = w.Refuse(t, "inbound_domains_create", `{"domain":"in.example.com"}`, core.CodeConflict)
		other := receivingtest.New(t, db)
		_ = w.Refuse(t, "inbound_domains_get", `{"domain":"other.example.com"}`, core.CodeNotFound)
		_ = other.Refuse(t, "inbound_domains_get", `{"domain":"`+id+`"}`, core.CodeNotFound)
		taken := other.Refuse(t, "inbound_domains_create", `{"domain":"in.example.com"}`, core.CodeConflict)
		if strings.Contains(taken.Error(), w.OrgID) {
			t.Error(taken)
		}
		w.Want(t, "inbound_domains_delete", `{"domain":"`+id+`"}`)
		_ = w.Refuse(t, "inbound_domains_delete", `{"domain":"`+id+`"}`, core.CodeNotFound)
		if again := other.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`); again["id"] == id {
			t.Error("the id of the deleted domain")
		}
	})
}

func TestDomainRefusals(t *testing.T) {
	t.Parallel()
	w := receivingtest.New(t, storagetest.SQLite(t))
	for _, name := range []string{"in.example.net", "example.org", "in.example.org", "badexample.com", "com"} {
		code := core.CodeReceivingDomainNotOwned
		if name == "com" {
			code = core.CodeValidationFailed
		}
		_ = w.Refuse(t, "inbound_domains_create", `{"domain":"`+name+`"}`, code)
	}
	for _, name := range []string{"a@b.example.com", "-x.example.com", "a..example.com", "10.0.0.1", "x y.example.com", strings.Repeat("a.", 125) + "example.com", "inbox.example.com"} {
		_ = w.Refuse(t, "inbound_domains_create", `{"domain":"`+name+`"}`, core.CodeValidationFailed)
	}
	// An identity that is not verified does not hide the verified one above it.
	if got := w.Want(t, "inbound_domains_create", `{"domain":"x.sub.example.com"}`); len(got["records"].([]any)) != 1 {
		t.Errorf("%v", got["records"])
	}
	w.Want(t, "inbound_domains_create", `{"domain":"müller.example.com"}`)
	w.Want(t, "inbound_domains_get", `{"domain":"xn--mller-kva.example.com"}`)
	w.Receiving.Receivers = receiving.Receivers{}
	_ = w.Refuse(t, "inbound_domains_create", `{"domain":"in.example.com"}`, core.CodeInboundNotDeployed)
}

// TestProviderRecords checks the records of a domain that Amazon SES receives.
func TestProviderRecords(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Receiving.Receivers = receiving.Receivers{Regions: []string{"us-east-1", "eu-central-1"}}
		made := w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		if made["region"] != "eu-central-1" || made["cross_region"] != false || values(made)[0] != "10 inbound-smtp.eu-central-1.amazonaws.com" || len(values(made)) != 1 {
			t.Errorf("%v", made)
		}
		w.Receiving.Receivers.Regions = []string{"us-east-1"}
		made = w.Want(t, "inbound_domains_create", `{"domain":"in.example.org"}`)
		want := []string{"10 inbound-smtp.us-east-1.amazonaws.com", "t1.dkim.amazonses.com", "t2.dkim.amazonses.com", "t3.dkim.amazonses.com"}
		if made["region"] != "us-east-1" || made["cross_region"] != true || !slices.Equal(values(made), want) {
			t.Errorf("%v", made)
		}
		w.Names.Publish("MX", "in.example.org", want[0])
		if got := w.Want(t, "inbound_domains_verify", `{"domain":"in.example.org"}`); got["last_error"] != "missing CNAME t1._domainkey.example.org" || got["records"].([]any)[0].(map[string]any)["verified"] != true {
			t.Errorf("%v", got)
		}
		_ = w.Refuse(t, "inbound_domains_create", `{"domain":"in.example.net"}`, core.CodeReceivingDomainNotOwned)
	})
}

// values returns the values of the records of a domain.
func values(domain map[string]any) []string {
	var all []string
	for _, r := range domain["records"].([]any) {
		all = append(all, r.(map[string]any)["value"].(string))
	}
	return all
}

func TestVerification(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		verify := func(status string, fault any) {
			t.Helper()
			got := w.Want(t, "inbound_domains_verify", `{"domain":"in.example.com"}`)
			if got["status"] != status || got["last_error"] != fault {
				t.Errorf("%v", got)
			}
		}
		verify("pending_dns", "missing MX in.example.com")
		w.Names.Fail(errors.New("no route to host"))
		verify("error", "cannot check MX in.example.com: no name server answered")
		w.Names.Fail(nil)
		verify("pending_dns", "missing MX in.example.com")
		w.Names.Publish("MX", "in.example.com", "10 "+receivingtest.MailHost)
		verify("verified", nil)
		w.Names.Fail(errors.New("no route to host"))
		verify("verified", nil) // it is final, and asks no name server
		_ = w.Refuse(t, "inbound_domains_verify", `{"domain":"other.example.com"}`, core.CodeNotFound)
	})
}

// TestBackgroundChecks checks how often a domain is checked, and that the background check also
// leaves the states pending_dns and error.
func TestBackgroundChecks(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		checks := 0
		look := func() map[string]any {
			t.Helper()
			due, err := db.ReceivingDomains().DomainsToCheck(t.Context(), w.Clock(), 10)
			if err != nil {
				t.Fatal(err)
			}
			checks += len(due)
			if err := w.Receiving.VerifyDue(t.Context()); err != nil {
				t.Fatal(err)
			}
			return w.Want(t, "inbound_domains_get", `{"domain":"in.example.com"}`)
		}
		for _, period := range []struct {
			length time.Duration
			want   int
		}{{time.Hour, 60}, {time.Hour, 6}, {22 * time.Hour, 132}, {24 * time.Hour, 24}, {5 * 24 * time.Hour, 120}, {24 * time.Hour, 4}} {
			checks = 0
			for end := w.Clock().Add(period.length); w.Clock().Before(end); w.Advance(time.Minute) {
				look()
			}
			if checks < period.want-1 || checks > period.want+1 {
				t.Errorf("%d checks in %s until %s, want %d", checks, period.length, w.Clock(), period.want)
			}
			if testing.Short() || db.Engine() == "postgres" {
				break
			}
		}
		w.Names.Fail(errors.New("no route to host"))
		w.Advance(6 * time.Hour)
		if got := look(); got["status"] != "error" {
			t.Errorf("%v", got)
		}
		w.Names.Fail(nil)
		w.Names.Publish("MX", "in.example.com", "10 "+receivingtest.MailHost)
		w.Advance(6 * time.Hour)
		if got := look(); got["status"] != "verified" {
			t.Errorf("%v", got)
		}
		checks = 0
		w.Advance(30 * 24 * time.Hour)
		if look(); checks != 0 {
			t.Error("a verified domain is checked")
		}
	})
}

var secretForm = regexp.MustCompile(`^whsec_[A-Za-z0-9+/]{43}=$`)

func TestWebhook(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		_ = w.Refuse(t, "inbound_webhook_rotate_secret", `{"domain":"in.example.com"}`, core.CodeWebhookNotSet)
		first := w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","allow_patterns":["Support-*","support-*"," a?"]}`)
		secret, _ := first["hmac_secret"].(string)
		if !secretForm.MatchString(secret) {
			t.Errorf("secret %q", secret)
		}
		want := map[string]any{
			"url": hook, "allow_patterns": []any{"support-*", "a?"}, "spam_posture": "tag", "virus_posture": "drop", "status": "pending", "published_at": nil, "error": nil,
		}
		if diff := cmp.Diff(want, first["webhook"]); diff != "" {
			t.Error(diff)
		}
		second := w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","spam_posture":"DROP","virus_posture":"tag"}`)
		got := second["webhook"].(map[string]any)
		if _, shown := second["hmac_secret"]; shown || len(got["allow_patterns"].([]any)) != 0 || got["spam_posture"] != "drop" || got["virus_posture"] != "tag" {
			t.Errorf("%v", second)
		}
		rotated := w.Want(t, "inbound_webhook_rotate_secret", `{"domain":"in.example.com"}`)
		if again := rotated["hmac_secret"].(string); again == secret || !secretForm.MatchString(again) {
			t.Errorf("rotated to %q", again)
		}
		for range 2 {
			if got := w.Want(t, "inbound_webhook_delete", `{"domain":"in.example.com"}`); got["webhook"] != nil {
				t.Errorf("%v", got)
			}
		}
		if after := w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`"}`); after["hmac_secret"] == nil {
			t.Error("no new secret after the webhook was removed")
		}
	})
}

// TestReplayedSecret checks that the stored result of a call has no secret, and that a repeated
// call gets the secret as long as it is in use.
func TestReplayedSecret(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		op := w.Operation("inbound_webhook_replace")
		out, failed := w.Run(t.Context(), "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`"}`)
		if failed != nil {
			t.Fatal(failed)
		}
		secret := w.View(t, "inbound_webhook_replace", out)["hmac_secret"].(string)
		stored, err := json.Marshal(out)
		if err != nil || strings.Contains(string(stored), secret) || strings.Contains(string(stored), "whsec_") {
			t.Fatalf("stored %s, %v", stored, err)
		}
		decoded, err := op.DecodeResult(stored)
		if err != nil {
			t.Fatal(err)
		}
		call := &core.Call{Principal: core.Principal{Org: core.Org{ID: w.OrgID}}, Surface: core.REST, Now: w.Clock()}
		again, err := op.Recall(t.Context(), call, decoded)
		if err != nil || w.View(t, "inbound_webhook_replace", again)["hmac_secret"] != secret {
			t.Errorf("recalled %v, %v", again, err)
		}
		w.Want(t, "inbound_webhook_rotate_secret", `{"domain":"in.example.com"}`)
		if _, err := op.Recall(t.Context(), call, decoded); !core.IsConflict(err) {
			t.Errorf("after a rotation: %v", err)
		}
	})
}

func TestWebhookRefusals(t *testing.T) {
	t.Parallel()
	w := receivingtest.New(t, storagetest.SQLite(t))
	w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
	w.Names.SetHost("https://unknown.example.com", standardhooks.UnknownHost)
	w.Names.SetHost("https://private.example.com", standardhooks.RefusedAddress)
	w.Names.SetHost("https://silent.example.com", standardhooks.NotConnected)
	for _, url := range []string{
		"http://hooks.example.com", "https://localhost/x", "https://10.0.0.1/", "https://u:p@hooks.example.com", "https://hooks.example.com:8443", "ftp://x", "x",
		"https://unknown.example.com", "https://private.example.com", "https://silent.example.com",
	} {
		refused := w.Refuse(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+url+`"}`, core.CodeValidationFailed)
		if refused.Fields[0].Field != "webhook_url" {
			t.Errorf("%s: %v", url, refused.Fields)
		}
	}
	for _, pattern := range []string{"", "a@b", "a b", "x\\u0000", strings.Repeat("x", 65)} {
		refused := w.Refuse(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","allow_patterns":["ok","`+pattern+`"]}`, core.CodeValidationFailed)
		if !strings.HasPrefix(refused.Fields[0].Field, "allow_patterns") {
			t.Errorf("%q: %v", pattern, refused.Fields)
		}
	}
	_ = w.Refuse(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`","spam_posture":"bounce"}`, core.CodeValidationFailed)
	_ = w.Refuse(t, "inbound_webhook_replace", `{"domain":"other.example.com","webhook_url":"`+hook+`"}`, core.CodeNotFound)
}

var generated = regexp.MustCompile(`^a-[0-9a-hjkmnp-tv-z]{24}$`)

func TestAddresses(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		made := w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"Order-1","metadata":{"order":1,"tags":["a"]}}`)
		if made["address"] != "order-1@in.example.com" || made["local_part"] != "order-1" || !cmp.Equal(made["metadata"], map[string]any{"order": 1.0, "tags": []any{"a"}}) {
			t.Errorf("%v", made)
		}
		_ = w.Refuse(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"order-1"}`, core.CodeConflict)
		w.Advance(time.Second)
		random := w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com"}`)
		if !generated.MatchString(random["local_part"].(string)) || !cmp.Equal(random["metadata"], map[string]any{}) {
			t.Errorf("%v", random)
		}
		list := w.Want(t, "inbound_addresses_list", `{"domain":"in.example.com"}`)["data"].([]any)
		if len(list) != 2 || list[0].(map[string]any)["id"] != made["id"] || list[1].(map[string]any)["address"] != random["address"] {
			t.Errorf("%v", list)
		}
		for range 2 {
			w.Want(t, "inbound_addresses_delete", `{"domain":"in.example.com","local_part":"ORDER-1"}`)
		}
		again := w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"order-1"}`)
		if again["id"] == made["id"] {
			t.Error("the id of the deleted address")
		}
		for _, wrong := range []string{`"local_part":"a-x"`, `"local_part":"A-X"`, `"local_part":".x"`, `"local_part":"x y"`, `"local_part":"x@y"`, `"local_part":"x*"`, `"local_part":"ü"`, `"metadata":{"x":"` + strings.Repeat("y", 4090) + `"}`} {
			_ = w.Refuse(t, "inbound_addresses_create", `{"domain":"in.example.com",`+wrong+`}`, core.CodeValidationFailed)
		}
		_ = w.Refuse(t, "inbound_addresses_create", `{"domain":"none.example.com"}`, core.CodeNotFound)
	})
}

// TestAddressesOfRestrictedDomains checks that an address adds an entry to the patterns, which
// its deletion removes.
func TestAddressesOfRestrictedDomains(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		w := receivingtest.New(t, db)
		w.Want(t, "inbound_domains_create", `{"domain":"in.example.com"}`)
		patterns := func(want ...string) {
			t.Helper()
			got := []string{}
			for _, p := range w.Want(t, "inbound_domains_get", `{"domain":"in.example.com"}`)["webhook"].(map[string]any)["allow_patterns"].([]any) {
				got = append(got, p.(string))
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v, want %v", got, want)
			}
		}
		put := func(members string) {
			t.Helper()
			w.Want(t, "inbound_webhook_replace", `{"domain":"in.example.com","webhook_url":"`+hook+`"`+members+`}`)
		}
		put("")
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"free"}`)
		patterns()
		put(`,"allow_patterns":["support"]`)
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"order-1"}`)
		patterns("support", "order-1")
		w.Want(t, "inbound_addresses_delete", `{"domain":"in.example.com","local_part":"order-1"}`)
		patterns("support")
		w.Want(t, "inbound_addresses_create", `{"domain":"in.example.com","local_part":"support"}`)
		w.Want(t, "inbound_addresses_delete", `{"domain":"in.example.com","local_part":"support"}`)
		patterns("support") // the entry was that of a person
	})
}

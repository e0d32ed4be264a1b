package mailsettings_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/mailsettings"
	"github.com/mailhelm/mailhelm/storage"
	"github.com/mailhelm/mailhelm/storage/storagetest"
)

func TestChecked(t *testing.T) {
	t.Parallel()
	good := mailsettings.Default()
	good.PostalAddress, good.AssetBaseURL = " Orchard Ltd \r\n\r\n1 Main St\n", "https://cdn.example.com/mail/"
	got, err := good.Checked()
	want := mailsettings.Settings{Language: "en", UnsubscribeFooter: true, PostalAddress: "Orchard Ltd\n1 Main St", AssetBaseURL: "https://cdn.example.com/mail"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Fatal(err, diff)
	}
	if again, err := got.Checked(); again != got || err != nil {
		t.Errorf("checked twice: %+v, %v", again, err)
	}
	for field, bad := range map[string][]string{
		"language": {"", "EN", "sv", "en-US"},
		"postal_address": {
			strings.Repeat("x", mailsettings.MaxAddress+1), strings.Repeat("x\n", mailsettings.MaxLines) + "x", "a {{name}}", `a\`, "a\u202eb", "a\x00", "\xff",
		},
		"asset_base_url": {
			"http://cdn.example.com", "cdn.example.com", "https://", "https:cdn", "https://u:p@cdn.example.com", "https://cdn.example.com/?a", "https://cdn.example.com/#a",
			"https://cdn.example.com/{{x}}", `https://cdn.example.com/"`, "javascript:alert(1)", "https://cdn.example.com/" + strings.Repeat("x", mailsettings.MaxURL), "https://a b",
		},
	} {
		for _, value := range bad {
			s := mailsettings.Default()
			*map[string]*string{"language": &s.Language, "postal_address": &s.PostalAddress, "asset_base_url": &s.AssetBaseURL}[field] = value
			_, err := s.Checked()
			e := core.AsError(err)
			if err == nil || e.Code != core.CodeValidationFailed || len(e.Fields) != 1 || e.Fields[0].Field != field {
				t.Errorf("%s %q: %v", field, value, err)
			}
		}
	}
}

// TestEdit changes settings, saves the same again, and fails in the hook.
func TestEdit(t *testing.T) {
	t.Parallel()
	storagetest.Each(t, func(t *testing.T, db *storage.DB) {
		org, now, changes := core.NewID(), time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC), 0
		var failure error
		own := mailsettings.New(mailsettings.Config{Store: db.MailSettings(), Clock: func() time.Time { return now }, OnChange: func(_ context.Context, id string) error {
			if id == org {
				changes++
			}
			return failure
		}})
		edit := func(s mailsettings.Settings) (before, after mailsettings.Settings, err error) {
			err = db.InTx(t.Context(), func(ctx context.Context) error {
				before, after, err = own.Edit(ctx, org, s)
				return err
			})
			return before, after, err
		}
		want := func(what string, s mailsettings.Settings, n int) {
			t.Helper()
			got, err := own.Of(t.Context(), org)
			if diff := cmp.Diff(s, got); diff != "" || err != nil || changes != n {
				t.Errorf("%s: %v, %d changes %s", what, err, changes, diff)
			}
		}
		want("nothing stored", mailsettings.Default(), 0)
		if _, _, err := edit(mailsettings.Default()); err != nil {
			t.Fatal(err)
		}
		want("the defaults again", mailsettings.Default(), 0)
		first := mailsettings.Settings{Language: "de", PostalAddress: "Orchard\nGraz", AssetBaseURL: "https://x.example"}
		before, after, err := edit(first)
		first.UpdatedAt = now
		if before != mailsettings.Default() || after != first || err != nil {
			t.Errorf("%+v, %+v, %v", before, after, err)
		}
		want("saved", first, 1)
		if _, _, err := edit(first); err != nil {
			t.Fatal(err)
		}
		want("the same again", first, 1)
		failure = errors.New("no queue")
		if _, _, err := edit(mailsettings.Default()); !errors.Is(err, failure) {
			t.Errorf("a failed hook: %v", err)
		}
		want("undone", first, 2)
		failure = nil
		second := first
		second.UnsubscribeFooter = true
		if _, after, err = edit(second); err != nil || !after.UpdatedAt.After(first.UpdatedAt) {
			t.Errorf("at the same instant: %+v, %v", after, err)
		}
	})
}

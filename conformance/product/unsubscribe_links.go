package product

import (
	"testing"

	"github.com/mailhelm/mailhelm/core/signing"
	"github.com/mailhelm/mailhelm/core/unsubscribe"
)

// UnsubscribeLinks returns links that the product accepts, made from its master key as the
// product makes the links of its mail.
func (p *Product) UnsubscribeLinks(t testing.TB) *unsubscribe.Links {
	t.Helper()
	master, err := signing.ParseMasterKey(masterKey)
	if err != nil {
		t.Fatal(err)
	}
	key, err := master.Derive(unsubscribe.KeyPurpose, unsubscribe.KeyBytes)
	if err != nil {
		t.Fatal(err)
	}
	links, err := unsubscribe.NewLinks(key, p.AppURL)
	if err != nil {
		t.Fatal(err)
	}
	return links
}

package templates_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/templates"
)

// imageAt returns the address of an image below static.
func imageAt(path string) (string, bool) {
	return "https://img.example/" + strings.ReplaceAll(path, " ", "-"), strings.HasPrefix(path, "static/")
}

func TestResolveImages(t *testing.T) {
	t.Parallel()
	for html, want := range map[string]string{
		`<img src="{{asset "static/a.png"}}">`:                               `<img src="https://img.example/static/a.png">`,
		`<img src='./static/a b.png' alt="static/a.png">`:                    `<img src='https://img.example/static/a-b.png' alt="static/a.png">`,
		`<img src=static/a%20b.png>`:                                         `<img src="https://img.example/static/a-b.png">`,
		`{{#each x}}<img src="{{~asset "./static/a.png"~}} ">{{/each}}`:      `{{#each x}}<img src="{{~!}}https://img.example/static/a.png{{!~}} ">{{/each}}`,
		`<img src="other.png"><p>{{asset "none.png"}}</p>`:                   `<img src="other.png"><p>{{asset "none.png"}}</p>`,
		`<img src="https://x.example/static/a.png"><img src="/static/a">`:    `<img src="https://x.example/static/a.png"><img src="/static/a">`,
		`<img src="../static/a.png"><img src="static/../a.png">`:             `<img src="../static/a.png"><img src="static/../a.png">`,
		`<img src="{{base}}static/a.png"><img src="data:image/png;base64,">`: `<img src="{{base}}static/a.png"><img src="data:image/png;base64,">`,
		`<img src="static/a.png">{{#if}}`:                                    `<img src="static/a.png">{{#if}}`,
	} {
		got := templates.ResolveImages(sending.Template{HTML: html}, imageAt)
		if got.HTML != want {
			t.Errorf("%s:\n%s, want\n%s", html, got.HTML, want)
		}
		if again := templates.ResolveImages(got, imageAt); again != got {
			t.Errorf("%s changes again to %s", html, again.HTML)
		}
	}
	text := templates.ResolveImages(sending.Template{Text: `See {{asset "static/a.png"}} and static/a.png`}, imageAt)
	if text.Text != "See https://img.example/static/a.png and static/a.png" {
		t.Error(text.Text)
	}
	paths := templates.ImagePaths(sending.Template{HTML: `<img src="b%20c.png"><img src="./b c.png">{{asset "a.png"}}<img src="//x/y">`, Text: `{{asset "t.png"}}`})
	if diff := cmp.Diff([]string{"a.png", "b c.png", "t.png"}, paths); diff != "" {
		t.Error(diff)
	}
}

// uses finds the templates that name images.
func (d *deployWorld) uses() templates.ImageUses {
	return templates.ImageUses{Deployed: d.db.Deployments(), Queue: d.queue, Clock: d.Deployer.Clock}
}

// TestImagesAreDeployed gives images their addresses before other paths get the address of the mail
// settings, and deploys the templates that name a changed image again.
func TestImagesAreDeployed(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		version := "1"
		d.Deployer.Images = func(_ context.Context, orgID string, content sending.Template) (sending.Template, error) {
			if orgID != d.org {
				t.Errorf("images of %s", orgID)
			}
			return templates.ResolveImages(content, func(path string) (string, bool) {
				return "https://img.example/" + version + ".png", path == "static/a.png"
			}), nil
		}
		d.settings.AssetBaseURL, d.settings.UpdatedAt = "https://cdn.example", d.now
		d.save(t, "shows", `<img src="{{asset "static/a.png"}}"><img src="other.png">`, "")
		d.save(t, "plain", `<p>static/a.png</p>`, "")
		if puts, err := d.deploy(t); len(puts) != 2 || err != nil {
			t.Fatalf("%v %v", puts, err)
		}
		got, err := d.account.Template(t.Context(), d.org, "acme--shows")
		if err != nil || !strings.Contains(got.HTML, `<img src="https://img.example/1.png"><img src="https://cdn.example/other.png">`) {
			t.Fatalf("%s %v", got.HTML, err)
		}
		uses, err := d.uses().Of(t.Context(), d.org)
		if err != nil || len(uses) != 1 || uses[0].Slug != "shows" || !slices.Equal(uses[0].Paths, []string{"other.png", "static/a.png"}) {
			t.Errorf("%+v %v", uses, err)
		}
		for _, path := range []string{"static/unused.png", "static/a.png"} {
			if err := d.uses().OnChange(t.Context(), d.org, []string{path}); err != nil {
				t.Fatal(err)
			}
			if path == "static/unused.png" {
				d.wantDeployed(t, "an image that no template names")
			}
		}
		version = "2"
		d.wantState(t, "shows", 0, "")
		d.wantDeployed(t, "a changed image", "acme--shows")
		if got, err = d.account.Template(t.Context(), d.org, "acme--shows"); err != nil || !strings.Contains(got.HTML, "https://img.example/2.png") {
			t.Errorf("%s %v", got.HTML, err)
		}
		d.wantState(t, "shows", 1, "")
	})
}

// TestImageChangesDuringDeployment does not count a template as deployed if one of its images changes
// between the look at its images and the end of the deployment.
func TestImageChangesDuringDeployment(t *testing.T) {
	t.Parallel()
	eachDeployed(t, func(t *testing.T, d *deployWorld) {
		changes := 0
		d.Deployer.Images = func(ctx context.Context, orgID string, content sending.Template) (sending.Template, error) {
			if changes++; changes == 1 {
				d.now = d.now.Add(time.Second)
				return content, d.uses().OnChange(ctx, orgID, []string{"static/a.png"})
			}
			return content, nil
		}
		d.save(t, "shows", `<img src="static/a.png">`, "")
		d.wantDeployed(t, "an image changes at the same time", "acme--shows")
		d.wantState(t, "shows", 0, "")
		d.wantDeployed(t, "again", "acme--shows")
		d.wantState(t, "shows", 1, "")
		d.wantDeployed(t, "nothing to do")
	})
}

// TestRenderedImages checks that templates_render returns the addresses that deployed mail has.
func TestRenderedImages(t *testing.T) {
	t.Parallel()
	each(t, func(t *testing.T, w *world) {
		if _, err := w.author(t, "slug", "n", "html", `<p>{{name}}</p><img src="static/a.png">`, "text", `{{asset "static/a.png"}}`); err != nil {
			t.Fatal(err)
		}
		rendered := func() templates.RenderedTemplate {
			out, err := w.call(t, core.Agent, "templates_render", `{"slug":"n","data":{"name":"static/a.png"}}`)
			if err != nil {
				t.Fatal(err)
			}
			return out.(templates.RenderedTemplate)
		}
		if got := rendered(); !strings.Contains(got.HTML, `<img src="static/a.png">`) || got.Text != `{{asset "static/a.png"}}` {
			t.Errorf("without addresses: %+v", got)
		}
		w.Images = func(_ context.Context, orgID string, content sending.Template) (sending.Template, error) {
			if orgID != w.org {
				t.Errorf("images of %s", orgID)
			}
			return templates.ResolveImages(content, imageAt), nil
		}
		if got := rendered(); !strings.Contains(got.HTML, `<p>static/a.png</p><img src="https://img.example/static/a.png">`) || got.Text != "https://img.example/static/a.png" {
			t.Errorf("with addresses: %+v", got)
		}
	})
}

package repository

import (
	"context"
	"net/http"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
	"github.com/mailhelm/mailhelm/core/people"
	"github.com/mailhelm/mailhelm/rest/dashboard/frame"
)

// describeAdoptions adds the adopted definitions, and those that can be adopted, to the data of the page.
func (h *Room) describeAdoptions(ctx context.Context, data *page, orgID string, adoptable []definitions.Ref) error {
	all, err := h.cfg.Settings.Adoptions.Adopted(ctx, orgID)
	for _, a := range all {
		data.Adopted = append(data.Adopted, adopted{Kind: string(a.Kind), Noun: a.Kind.Noun(), Key: a.Key, At: h.When(a.AdoptedAt)})
	}
	for _, ref := range adoptable {
		name := string(ref.Kind) + " " + ref.Key
		data.Adoptable = append(data.Adoptable, frame.Option{Value: name, Name: name})
	}
	return err
}

// definitionOf returns the definition that a form names, such as "segment vip".
func definitionOf(r *http.Request) definitions.Ref {
	kind, key, _ := strings.Cut(r.PostForm.Get("definition"), " ")
	return definitions.Ref{Kind: definitions.Kind(kind), Key: key}
}

// adopt makes a definition of the repository a managed one.
func (h *Room) adopt(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	ref := definitionOf(r)
	err := h.change(r, v, "git.adopted", func(ctx context.Context) (map[string]any, error) {
		return detailOf(ref), h.cfg.Settings.Adopt(ctx, v.Org.ID, ref)
	})
	switch {
	case core.IsNotFound(err):
		h.Refuse(w, r, v, http.StatusConflict, "The definition was not adopted", "The repository no longer defines it, or was disconnected. Open the page again.")
	case core.IsConflict(err):
		h.Refuse(w, r, v, http.StatusConflict, "The definition was not adopted", frame.TextOf(err))
	case err != nil:
		h.Fail(w, r, v, err)
	default:
		frame.RedirectWithNotice(w, Path, "adopted")
	}
}

// giveBack returns an adopted definition to the repository.
func (h *Room) giveBack(w http.ResponseWriter, r *http.Request, v people.Visitor) {
	ref := definitionOf(r)
	err := h.change(r, v, "git.returned", func(ctx context.Context) (map[string]any, error) {
		return detailOf(ref), h.cfg.Settings.Return(ctx, v.Org.ID, ref)
	})
	if core.IsNotFound(err) {
		h.Refuse(w, r, v, http.StatusConflict, "The definition was not returned", "It is no longer adopted: it was returned, the repository no longer names it, or was disconnected. Open the page again.")
		return
	}
	h.finish(w, r, v, "returned", err)
}

// detailOf returns what the audit log says about a definition.
func detailOf(ref definitions.Ref) map[string]any {
	return map[string]any{"kind": string(ref.Kind), "key": ref.Key}
}

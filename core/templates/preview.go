package templates

import (
	"context"
	"fmt"
	"maps"
	"strings"

	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/composition"
	"github.com/mailhelm/mailhelm/core/sending"
)

// PreviewData are the values with which a draft is rendered for a preview.
type PreviewData struct {
	// Profile is the name of a set of the draft's test data, "" for none.
	Profile string
	// Values are further values. They win over the set.
	Values map[string]any
	// ContactID is the contact for whom the draft is rendered, "" for none. Its attributes
	// and its address win over all other values. The caller must have checked that the person
	// who asks may see contacts.
	ContactID string
}

// Preview is a draft as one recipient would get it.
type Preview struct {
	composition.Rendered
	// Missing are the variables without a value. They print nothing.
	Missing []string
	// DerivedText is true if the draft has no text, so that the text comes from its HTML.
	DerivedText bool
}

// Preview renders a draft and saves nothing. It fails with core.CodeValidationFailed for a
// draft with faults, for an unknown profile, and if the result becomes too long. It fails with
// core.CodeNotFound for an unknown contact.
func (t *Templates) Preview(ctx context.Context, orgID string, d Draft, with PreviewData) (Preview, error) {
	testData, fault := encodeTestData(d.TestData)
	if fault != "" {
		return Preview{}, core.Invalid(testDataPart, fault)
	}
	data, err := t.dataOf(ctx, orgID, testData, with)
	if err != nil {
		return Preview{}, err
	}
	content, images, err := t.markImages(ctx, orgID, d.content())
	if err != nil {
		return Preview{}, err
	}
	compiled, err := Compile(content)
	if err != nil {
		return Preview{}, err
	}
	rendered, missing, err := compiled.Render(data)
	if err != nil {
		return Preview{}, err
	}
	rendered.HTML = images.Replace(rendered.HTML)
	return Preview{Rendered: rendered, Missing: missing, DerivedText: d.Text == ""}, nil
}

// maxPreviewImages is the maximum length of the images of a preview together, as data URLs.
const maxPreviewImages = 2 << 20

// markImages replaces the paths of images in HTML by addresses that exist nowhere, and returns what
// replaces these by the images after the HTML is rendered. In this way, images do not count for the limits of
// the content. Other paths stay as written.
func (c Config) markImages(ctx context.Context, orgID string, content sending.Template) (sending.Template, *strings.Replacer, error) {
	if c.PreviewImage == nil {
		return content, strings.NewReplacer(), nil
	}
	var pairs []string
	var failure error
	marks, size := map[string]string{}, 0
	marked := ResolveImages(sending.Template{HTML: content.HTML}, func(path string) (string, bool) {
		if mark, known := marks[path]; known || failure != nil {
			return mark, mark != ""
		}
		image, err := c.PreviewImage(ctx, orgID, path)
		if size += len(image); err != nil || image == "" || size > maxPreviewImages {
			marks[path], failure = "", err
			return "", false
		}
		marks[path] = fmt.Sprintf("https://image-%d.preview.invalid/", len(pairs)/2)
		pairs = append(pairs, marks[path], image)
		return marks[path], true
	})
	content.HTML = marked.HTML
	return content, strings.NewReplacer(pairs...), failure
}

// dataOf returns the values of a preview: those of the reserved names, of a set of the test
// data, of the caller, and of a contact. Each wins over those before it.
func (t *Templates) dataOf(ctx context.Context, orgID, testData string, with PreviewData) (map[string]any, error) {
	data := maps.Clone(sampleLinks)
	if with.Profile != "" {
		values, err := profile(testData, with.Profile)
		if err != nil {
			return nil, err
		}
		maps.Copy(data, values)
	}
	maps.Copy(data, with.Values)
	if with.ContactID == "" {
		return data, nil
	}
	own, err := t.People.MessageData(ctx, orgID, with.ContactID)
	if err != nil {
		return nil, err
	}
	maps.Copy(data, own)
	return data, nil
}

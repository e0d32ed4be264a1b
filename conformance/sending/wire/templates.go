package wire

import (
	"net/http"

	"github.com/mailhelm/mailhelm/core/sending"
	"github.com/mailhelm/mailhelm/core/sending/simulator"
)

// templateContent has the parts of a template. An empty text or HTML is omitted from the
// JSON.
type templateContent struct {
	Subject string
	Text    string `json:",omitempty"`
	HTML    string `json:"Html,omitempty"`
}

// template is the body of CreateEmailTemplate and UpdateEmailTemplate, and the response of
// GetEmailTemplate.
type template struct {
	TemplateName    string
	TemplateContent templateContent
}

// port converts the template to a sending.Template.
func (t template) port() sending.Template {
	return sending.Template{Name: t.TemplateName, Subject: t.TemplateContent.Subject, Text: t.TemplateContent.Text, HTML: t.TemplateContent.HTML}
}

// listEmailTemplates serves ListEmailTemplates, which returns the names and times of
// templates.
func (w *wire) listEmailTemplates(r *http.Request) (any, error) {
	l, err := readListing(r)
	if err != nil {
		return nil, err
	}
	page, next, err := w.account.WithPageSize(l.PageSize).TemplatesPage(r.Context(), w.org, l.NextToken)
	names := make([]object, len(page))
	for i, t := range page {
		names[i] = object{"TemplateName": t.Name, "CreatedTimestamp": seconds(t.CreatedAt)}
	}
	return withNext(object{"TemplatesMetadata": names}, next), err
}

// getEmailTemplate serves GetEmailTemplate. It fails with NotFoundException if there is no
// template with the name.
func (w *wire) getEmailTemplate(r *http.Request) (any, error) {
	t, err := w.account.Template(r.Context(), w.org, r.PathValue("template"))
	if err != nil {
		return nil, err
	}
	return template{t.Name, templateContent{t.Subject, t.Text, t.HTML}}, nil
}

// createEmailTemplate serves CreateEmailTemplate. It fails with AlreadyExistsException if a
// template has the name. Two concurrent requests with the same name may both succeed.
func (w *wire) createEmailTemplate(r *http.Request) (any, error) {
	in, err := read[template](r)
	if err != nil {
		return nil, err
	}
	_, err = w.account.Template(r.Context(), w.org, in.TemplateName)
	if err == nil {
		return nil, alreadyExists("There is a template of this name already.")
	}
	if !sending.IsNotFound(err) {
		return nil, err
	}
	return object{}, w.account.PutTemplate(r.Context(), w.org, in.port())
}

// updateEmailTemplate serves UpdateEmailTemplate for the name in the path; it ignores the
// name in the body. It fails with NotFoundException if there is no template with the name.
func (w *wire) updateEmailTemplate(r *http.Request) (any, error) {
	in, err := read[template](r)
	if err != nil {
		return nil, err
	}
	in.TemplateName = r.PathValue("template")
	if _, err := w.account.Template(r.Context(), w.org, in.TemplateName); err != nil {
		return nil, err
	}
	return object{}, w.account.PutTemplate(r.Context(), w.org, in.port())
}

// deleteEmailTemplate serves the operation DeleteEmailTemplate of the SES API. It fails
// with NotFoundException if there is no template with the name; the simulator would
// succeed.
func (w *wire) deleteEmailTemplate(r *http.Request) (any, error) {
	name := r.PathValue("template")
	if _, err := w.account.Template(r.Context(), w.org, name); err != nil {
		return nil, err
	}
	return object{}, w.account.DeleteTemplate(r.Context(), w.org, name)
}

// testRenderEmailTemplate serves TestRenderEmailTemplate. It returns the rendered template
// as a MIME message: its text and HTML one after the other. It fails if a variable has no
// value, unlike the operations that send a message.
func (w *wire) testRenderEmailTemplate(r *http.Request) (any, error) {
	in, err := read[struct{ TemplateData string }](r)
	if err != nil {
		return nil, err
	}
	t, err := w.account.Template(r.Context(), w.org, r.PathValue("template"))
	if err != nil {
		return nil, err
	}
	rendered, missing, err := simulator.Render(t, in.TemplateData)
	if err != nil {
		return nil, err
	}
	if missing != "" {
		return nil, badRequest("Attribute '" + missing + "' is not present in the rendering data.")
	}
	text := "Subject: " + rendered.Subject + "\r\nMIME-Version: 1.0\r\nContent-Type: multipart/alternative; boundary=\"part\"\r\n"
	for _, part := range [][2]string{{"text/plain", rendered.Text}, {"text/html", rendered.HTML}} {
		if part[1] != "" {
			text += "\r\n--part\r\nContent-Type: " + part[0] + "; charset=UTF-8\r\n\r\n" + part[1]
		}
	}
	return object{"RenderedTemplate": text + "\r\n--part--\r\n"}, nil
}

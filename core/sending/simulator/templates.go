package simulator

import (
	"context"
	"database/sql"
	"errors"
	"regexp"
	"time"

	"github.com/mailhelm/mailhelm/core/sending"
)

// The limits of a template.
const maxTemplateBytes = 500 << 10

var templateName = regexp.MustCompile(`^[A-Za-z0-9_-]{1,64}$`)

const selectTemplatesPage = `
SELECT id, name, created_at FROM templates WHERE org_id = $1 AND id > $2 ORDER BY id LIMIT +$3`

// TemplatesPage returns a page of template names, in the order of their creation, and the
// token of the next page.
func (s *Simulator) TemplatesPage(ctx context.Context, orgID, token string) ([]sending.TemplateName, string, error) {
	var page []sending.TemplateName
	var next string
	err := s.call(ctx, MethodTemplatesPage, func(ctx context.Context) error {
		var err error
		next, err = s.page(ctx, s.selectTemplatesPage, listing{orgID, "templates", token}, func(rows *sql.Rows) (int64, error) {
			var id, at int64
			var one sending.TemplateName
			err := rows.Scan(&id, &one.Name, &at)
			one.CreatedAt = timeOf(at)
			page = append(page, one)
			return id, err
		})
		return err
	})
	if err != nil {
		return nil, "", err
	}
	return page, next, nil
}

const selectTemplate = `SELECT name, subject, body_text, body_html FROM templates WHERE org_id = $1 AND name = $2`

// Template returns the template with this name and its content. It fails with NotFound if
// it does not exist.
func (s *Simulator) Template(ctx context.Context, orgID, name string) (sending.Template, error) {
	var t sending.Template
	err := s.pointRead(ctx, MethodTemplate, func(ctx context.Context) error {
		var err error
		t, err = readTemplate(ctx, s.selectTemplate, orgID, name)
		if errors.Is(err, sql.ErrNoRows) {
			return s.absenceError(ctx, orgID, "the account has no template of this name")
		}
		return err
	})
	if err != nil {
		return sending.Template{}, err
	}
	return t, nil
}

func readTemplate(ctx context.Context, stmt *sql.Stmt, orgID, name string) (sending.Template, error) {
	var t sending.Template
	err := stmt.QueryRowContext(ctx, orgID, name).Scan(&t.Name, &t.Subject, &t.Text, &t.HTML)
	return t, err
}

const putTemplate = `
INSERT INTO templates (org_id, name, subject, body_text, body_html, created_at) VALUES ($1, $2, $3, $4, $5, $6)
ON CONFLICT (org_id, name) DO UPDATE SET
	subject = excluded.subject, body_text = excluded.body_text, body_html = excluded.body_html`

// PutTemplate creates the template or replaces its content. It fails with Invalid for a
// template without a subject or of more than 500 KB, and for a name that is not 1 to 64
// letters, digits, _ and -.
func (s *Simulator) PutTemplate(ctx context.Context, orgID string, t sending.Template) error {
	return s.call(ctx, MethodPutTemplate, func(ctx context.Context) error {
		if err := checkTemplate(t); err != nil {
			return err
		}
		return s.write(ctx, orgID, func(w *change) { w.template(t, s.clock()) })
	})
}

const deleteTemplate = `DELETE FROM templates WHERE org_id = $1 AND name = $2`

// DeleteTemplate removes a template. It succeeds when the template does not exist.
func (s *Simulator) DeleteTemplate(ctx context.Context, orgID, name string) error {
	return s.call(ctx, MethodDeleteTemplate, func(ctx context.Context) error {
		return s.write(ctx, orgID, func(w *change) { w.exec(deleteTemplate, orgID, name) })
	})
}

func (w *change) template(t sending.Template, at time.Time) {
	if w.err == nil {
		w.err = checkTemplate(t)
	}
	w.exec(putTemplate, w.orgID, t.Name, t.Subject, t.Text, t.HTML, at.UnixMicro())
}

func checkTemplate(t sending.Template) error {
	switch {
	case !templateName.MatchString(t.Name):
		return invalid("a template's name has other characters than A-Z, a-z, 0-9, _ and -, or more than 64")
	case t.Subject == "":
		return invalid("a template needs a subject")
	case len(t.Subject)+len(t.Text)+len(t.HTML) > maxTemplateBytes:
		return invalid("a template has at most 500 KB")
	}
	return nil
}

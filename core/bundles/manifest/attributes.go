package manifest

import (
	"github.com/mailhelm/mailhelm/core"
	"github.com/mailhelm/mailhelm/core/bundles/definitions"
)

// schemaDialect is the identifier of JSON Schema, draft 2020-12.
const schemaDialect = "https://json-schema.org/draft/2020-12/schema"

// dateTime is the format of strings that are times (RFC 3339).
const dateTime = "date-time"

// attributes reads the section of the attributes, a JSON schema of an object. Each of its properties
// is an attribute: a string, a string with the format date-time, a string with enum, a number or a
// boolean.
func (r *reader) attributes(n node) {
	const kind = definitions.KindAttribute
	path, root, ok := r.openSection(kind, n)
	if !ok {
		return
	}
	what := "the schema of the attributes"
	f := r.keywords(root, what, "$schema", "$id", "title", "description", "type", "properties", "additionalProperties")
	if t := f.text("type", false); t != "" && t != "object" {
		r.errorAt(f.by["type"].node.at, InvalidValue, `The schema of the attributes must have the type "object".`)
		return
	}
	properties, ok := f.by["properties"]
	if !ok {
		return
	}
	for _, m := range r.object(properties.node, "the properties of "+what) {
		r.begin(kind, m.name, path)
		if a, ok := r.attribute(m); ok {
			r.result.Set.Attributes = append(r.result.Set.Attributes, a)
		}
		r.of = definitions.Ref{}
	}
}

// attribute reads one property of the schema.
func (r *reader) attribute(m member) (definitions.Attribute, bool) {
	f := r.keywords(m.node, "the attribute "+core.Quote(m.name), "type", "format", "enum", "description", "title")
	a := definitions.Attribute{Name: m.name, Description: f.text("description", false), EnumValues: f.texts("enum")}
	form, format := f.text("type", true), f.text("format", false)
	if !f.ok {
		return a, false
	}
	_, hasValues := f.by["enum"]
	switch {
	case form == "number" && format == "" && !hasValues:
		a.Type = "number"
	case form == "boolean" && format == "" && !hasValues:
		a.Type = "bool"
	case form == "string" && format == dateTime && !hasValues:
		a.Type = "datetime"
	case form == "string" && format == "" && hasValues:
		a.Type = "enum"
	case form == "string" && format == "":
		a.Type = "string"
	default:
		r.errorAt(m.node.at, InvalidValue, "The attribute "+core.Quote(m.name)+` must be a "string", a "string" with the format "date-time", a "string" with "enum", a "number" or a "boolean".`)
		return a, false
	}
	return a, true
}

// schemaOf returns the JSON schema with the attributes.
func schemaOf(all []definitions.Attribute) any {
	properties := map[string]any{}
	for _, a := range all {
		p := map[string]any{}
		if a.Description != "" {
			p["description"] = a.Description
		}
		switch a.Type {
		case "number":
			p["type"] = "number"
		case "bool":
			p["type"] = "boolean"
		case "datetime":
			p["type"], p["format"] = "string", dateTime
		case "enum":
			p["type"], p["enum"] = "string", a.EnumValues
		default:
			p["type"] = "string"
		}
		properties[a.Name] = p
	}
	return map[string]any{"$schema": schemaDialect, "type": "object", "properties": properties}
}

// Package handlebars implements the language of templates, a subset of Handlebars.
//
//	<p>Hello {{name}},</p>
//	{{#each orders}}
//	  <a href="{{url}}">{{number}}</a>{{#unless @last}}, {{/unless}}
//	{{else}}
//	  You have no orders.
//	{{/each}}
//
// [Parse] compiles a source once, to a flat plan. [Template.Execute] appends the result for
// the data of one recipient. The standard is handlebars.js 4.7 (https://handlebarsjs.com);
// core/doc/decisions/0087-templates-are-a-subset-of-handlebars.md has the differences.
//
// # Language
//
//	{{x}}                    a value, escaped as its place in the HTML requires
//	{{{x}}} {{&x}}           a value, not escaped
//	{{#if x}} {{#unless x}}  a condition, with {{else}}, {{else if y}} or {{^}}
//	{{#each x}}              the items of an array or the members of an object
//	{{#with x}}              the members of a value
//	{{! }} {{!-- --}}        a comment
//	{{> name}}               a partial: renders nothing
//	{{asset "path"}}         the address of a file: stays as written until WithAssets
//	{{~ x ~}}                removes the white space on that side
//	\{{x}}                   the text {{x}}
//
// A path is a name, or names joined by "." or "/". A name in brackets may contain any
// character: [first name]. An index such as items.[0] selects an item of an array. this and
// "." are the current value, and ../ is the value around the block. Inside each there are
// @index, @first, @last and @key; @root is the whole data. A tag that stands alone on its
// line (a block, comment or partial) leaves no empty line.
//
// Missing values, null and objects print nothing. Arrays print their items with commas
// between them, and numbers are printed as in JavaScript. False are: missing values, null,
// false, 0, "" and [].
//
// Not in the language: other helpers and blocks, literals, subexpressions, hash arguments,
// block parameters, decorators, inline partials and raw blocks. Each is a [Fault] with its
// line and column.
//
// # Limits
//
// A template reads only the given data: values of encoding/json, without reflection. A
// source has at most [MaxSource] bytes, [MaxDepth] nested blocks, and [MaxSegments] names in
// one path. [Limits] bounds the output and the steps of one execution, and [MaxDepth] also
// the nesting of arrays that are printed. Time to parse is linear in the length of the
// source.
//
// # Escaping
//
// In the mode [HTML], Parse follows the HTML around every value and chooses how to escape
// it, so that a value cannot add an element or an attribute:
//
//   - In text, comments and quoted attributes, & < > " ' ` = become entities, the set of
//     handlebars.js. In an attribute without quotes, white space does too.
//   - A link, such as the value of href or src, that begins with a value must have the
//     scheme http, https, mailto, tel, sms or cid, or none. Otherwise the value becomes "#".
//     After "=" of a query a value is percent-encoded. Elsewhere in a link, only characters
//     that a link cannot contain are.
//   - In style sheets and style attributes, values are escaped for CSS.
//   - A value in a script, an event handler, or a tag outside of an attribute's value is a
//     fault, and so is a block whose arms end in different places of the HTML.
//
// The content of Outlook's conditional comments is HTML. The author of a template is
// trusted, unlike the data: {{{x}}} prints markup, but it cannot begin a link with another
// scheme.
package handlebars

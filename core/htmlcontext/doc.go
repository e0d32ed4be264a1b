// Package htmlcontext escapes values that are inserted into HTML as their places require, so
// that a value cannot add an element or an attribute, or a link with another scheme.
//
// A [Context] is a place in HTML. [Context.Advance] moves it over a text, and
// [Context.Value] over a value, with the [Escape] for it. [Join] is the place after a
// condition, and [Context.BeforeLoop] and [Context.Repeats] are for loops. [Append] escapes.
// The author of the texts is trusted, the values are not. Package handlebars uses it for
// templates; it has the rules in words.
//
// The states are those of the tokenizer in the HTML standard
// (https://html.spec.whatwg.org/multipage/parsing.html#tokenization), reduced to what
// matters for values. The content of Outlook's conditional comments is HTML.
package htmlcontext

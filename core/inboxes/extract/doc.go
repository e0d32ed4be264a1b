// Package extract finds one-time codes and links in mail, so that tests and agents can
// complete a sign-up or sign-in without reading the message.
//
// It works by rules, without a model. A number is only a code if a word such as "code",
// "PIN" or "验证码" labels it. Prices, years, dates, phone, order and postal numbers are not
// codes, unless a label stands directly before. A code that is missed can still be read in
// the text, a wrong one would be typed in: rules that would find more codes at the price of
// wrong ones are left out.
//
// Links are http and https addresses, each with the kind that its text, its surroundings or
// its path suggest. The sender of a mail chooses all of it: neither a code nor the kind of a
// link says that a mail is genuine.
//
// Time is proportional to the length of the mail. Only the first 256 KiB of each body are
// read.
package extract

package lab

import (
	"bytes"
	"embed"
	"fmt"
	"html/template"
	"io/fs"
	"net/http"
	"path"
	"strings"

	"toolgym/internal/plain"
)

//go:embed page/*
var pageFiles embed.FS

// A view is what the frame of a page needs, and the page's own part.
type view struct {
	Title   string
	Path    string // of the page, for the navigation
	Query   template.URL
	Guarded bool
	Page    any
}

// A link is an entry of the navigation.
type link struct{ Path, Name string }

// navigation lists the pages in their order.
func navigation() []link {
	return []link{
		{"/", "Rollout"},
		{"/lab/training", "Training"},
		{"/lab/playground", "Playground"},
		{"/lab/evaluations", "Evaluations"},
		{"/lab/script", "Script"},
	}
}

// parse reads the templates: each page is put into a copy of the frame. Files
// that begin with an underscore are parts that any page may use.
func (l *Lab) parse() (map[string]*template.Template, error) {
	frame, err := template.New("frame.html").Funcs(l.functions()).ParseFS(pageFiles, "page/frame.html", "page/_*.html")
	if err != nil {
		return nil, errorf("frame", err)
	}
	files, err := fs.Glob(pageFiles, "page/[a-z]*.html")
	if err != nil {
		return nil, errorf("list", err)
	}
	pages := map[string]*template.Template{}
	for _, file := range files {
		name := strings.TrimSuffix(path.Base(file), ".html")
		if name == "frame" {
			continue
		}
		page, err := frame.Clone()
		if err != nil {
			return nil, errorf(name, err)
		}
		if pages[name], err = page.ParseFS(pageFiles, file); err != nil {
			return nil, errorf(name, err)
		}
	}
	return pages, nil
}

// functions are what templates may call.
func (l *Lab) functions() template.FuncMap {
	return template.FuncMap{
		"navigation": navigation,
		"static":     func(name string) string { return "/lab/static/" + name + "?v=" + l.static[name].version },
		"signed":     signed,
		"measured":   measured,
		"percent":    func(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) },
		"between":    between,
		"points":     points,
		"rate":       rate,
		"visible":    plain.Text,
		"figure":     func(v float64) string { return strings.Replace(fmt.Sprintf("%.3f", v), "-", "−", 1) },
	}
}

// signed writes a weight with its sign, and a minus as printers set it.
func signed(v float64) string { return strings.Replace(fmt.Sprintf("%+.2f", v), "-", "−", 1) }

// show writes a whole page.
func (l *Lab) show(w http.ResponseWriter, r *http.Request, name, title string, page any) error {
	return l.showAs(w, r, http.StatusOK, name, title, page)
}

func (l *Lab) showAs(w http.ResponseWriter, r *http.Request, status int, name, title string, page any) error {
	return l.write(w, status, name, "frame.html", view{Title: title, Path: r.URL.Path, Query: template.URL(r.URL.Query().Encode()), Guarded: l.config.Guarded, Page: page})
}

// part writes one part of a page, which the script puts in place of the old one.
func (l *Lab) part(w http.ResponseWriter, page, part string, content any) error {
	return l.write(w, http.StatusOK, page, part, content)
}

// write executes a template; nothing is sent before all of it is written.
func (l *Lab) write(w http.ResponseWriter, status int, page, name string, content any) error {
	var text bytes.Buffer
	if err := l.pages[page].ExecuteTemplate(&text, name, content); err != nil {
		return errorf(page, err)
	}
	header := w.Header()
	header.Set("Content-Type", "text/html; charset=utf-8")
	header.Set("Content-Security-Policy", Policy)
	header.Set("Referrer-Policy", "same-origin")
	header.Set("Cache-Control", "no-store")
	w.WriteHeader(status)
	_, _ = w.Write(text.Bytes()) // a client that has gone needs no page
	return nil
}

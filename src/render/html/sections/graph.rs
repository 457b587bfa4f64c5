use crate::render::html::page::Page;
pub fn section(_p: &mut Page<'_>) {}

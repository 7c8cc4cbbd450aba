//! Draws the precision-recall curve of the labelled set: `cargo run --example curve -- crates/reflection/precision-recall.svg`.

#[expect(dead_code, reason = "the test uses the rest")]
#[path = "../tests/labelled/cases.rs"]
mod cases;

use std::error::Error;

use cases::{Judged, halves};
use plotters::prelude::{
    ChartBuilder, Circle, EmptyElement, IntoDrawingArea as _, LineSeries, RGBColor, SVGBackend, ShapeStyle, Text, WHITE,
};
use plotters::style::IntoFont as _;

/// Recall and precision at every threshold, the highest first.
fn curve(judged: &[Judged]) -> Vec<(f64, f64)> {
    let mut ranked: Vec<(f64, bool)> = judged.iter().map(|one| (one.score, one.case.recommend)).collect();
    ranked.sort_by(|one, other| other.0.total_cmp(&one.0));
    let positives = ranked.iter().filter(|(_, right)| *right).count();
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let (mut found, mut points) = (0, Vec::new());
    for (at, (score, right)) in ranked.iter().enumerate() {
        found += usize::from(*right);
        // Cases of one score come together.
        if ranked.get(at + 1).is_none_or(|(next, _)| next < score) {
            points.push((number(found) / number(positives), number(found) / number(at + 1)));
        }
    }
    points
}

/// Recall and precision of what the engine decides.
fn decided(judged: &[Judged]) -> (f64, f64) {
    let count = |rule: &dyn Fn(&Judged) -> bool| judged.iter().filter(|one| rule(one)).count();
    let number = |count: usize| f64::from(u32::try_from(count).unwrap_or(u32::MAX));
    let right = number(count(&|one| one.recommends && one.case.recommend));
    (right / number(count(&|one| one.case.recommend)), right / number(count(&|one| one.recommends)))
}

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("usage: curve FILE.svg")?;
    let area = SVGBackend::new(&path, (720, 480)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption("Recommend a tool or not: precision and recall", ("sans-serif", 18))
        .margin(16)
        .x_label_area_size(44)
        .y_label_area_size(56)
        .build_cartesian_2d(0.0..1.0, 0.6..1.02)?;
    chart
        .configure_mesh()
        .x_desc("recall")
        .y_desc("precision")
        .y_labels(5)
        .light_line_style(WHITE)
        .bold_line_style(RGBColor(225, 225, 225))
        .label_style(("sans-serif", 14))
        .draw()?;
    let colors = [RGBColor(120, 120, 120), RGBColor(30, 90, 170)];
    for (at, half) in halves().iter().enumerate() {
        let judged: Vec<Judged> = half.cases.iter().map(Judged::from_case).collect();
        let color = colors[at % colors.len()];
        let style = ShapeStyle { color: color.into(), filled: true, stroke_width: 2 };
        let mut points = vec![(0.0, 1.0)];
        points.extend(curve(&judged));
        chart.draw_series(LineSeries::new(points, style))?;
        let (recall, precision) = decided(&judged);
        chart.draw_series([EmptyElement::at((recall, precision)) + Circle::new((0, 0), 5, style)])?;
        let row = 0.68 - f64::from(u32::try_from(at)?) * 0.03;
        let font = ("sans-serif", 14).into_font().color(&color);
        let label =
            format!("{} half, {} cases: precision {precision:.3}, recall {recall:.3} (dot)", half.name, judged.len());
        chart.draw_series([Text::new(label, (0.06, row), font)])?;
    }
    area.present()?;
    Ok(())
}

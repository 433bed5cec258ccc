"""What files of tables say beside their rows: which evaluation it is and on which terms."""

from typing import Any

from leaderboard.reads.columns import Column
from leaderboard.reads.headings import CampaignHeading, EvaluationHeading, Terms

__all__ = ["campaign_facts", "column_facts", "evaluation_facts", "terms_facts"]


def campaign_facts(campaign: CampaignHeading) -> dict[str, Any]:
    return {"slug": campaign.slug, "title": campaign.title, "simulated": campaign.simulated}


def evaluation_facts(evaluation: EvaluationHeading) -> dict[str, Any]:
    return {
        "campaign": campaign_facts(evaluation.campaign),
        "slug": evaluation.slug,
        "title": evaluation.title,
        "period": evaluation.period,
        "condition": evaluation.condition,
        "collection": evaluation.collection,
        "phase": evaluation.phase.value,
        "opens_at": evaluation.opens_at,
        "closes_at": evaluation.closes_at,
    }


def terms_facts(terms: Terms) -> dict[str, Any]:
    return {
        "beta": terms.beta,
        "cost": terms.cost,
        "value": terms.value,
        "prior": terms.prior,
        "no_relevant": terms.no_relevant.value,
        "documents": terms.documents,
        "relevance_level": terms.relevance_level,
        "judging": terms.judging.value,
        "compat": terms.compat,
        "metric_version": terms.metric_version,
        "judgment_revision": terms.revision,
        "queries": {
            "all": terms.queries,
            "counted": terms.counted,
            "excluded": terms.excluded,
            "unjudged": terms.unjudged,
            "hidden": terms.hidden,
        },
    }


def column_facts(column: Column) -> dict[str, Any]:
    return {"name": column.name, "title": column.title, "unit": column.unit, "better": column.direction}
